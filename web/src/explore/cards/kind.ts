/** A kind of card: its name in the address, its title in the gallery, and its view. */
import type { ComponentType } from 'react';
import type { Bench } from '../state.ts';

export interface CardProps {
  bench: Bench;
  onRemove: () => void;
}

export interface CardKind {
  name: string;
  title: string;
  /** True where the study has what the card draws. */
  fits: (bench: Bench) => boolean;
  View: ComponentType<CardProps>;
}
