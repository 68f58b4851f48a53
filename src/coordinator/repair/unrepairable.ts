/** The refusal of a repair. */
import { SimbatchError } from '../../domain/errors.ts';

export const unrepairable = (directory: string, why: string): SimbatchError =>
  new SimbatchError('store-unusable', `the data directory ${directory} cannot be repaired: ${why}; restore a backup`);
