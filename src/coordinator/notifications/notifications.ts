/**
 * Notifications of a coordinator: puts announcement, delivery and the watch on blocked studies together. Without a receiver
 * nothing is announced and nothing is watched; what waits for a former receiver is given up.
 */
import type { Fact } from '../../../machines/protocol.ts';
import type { Finding, Uuid } from '../../contract/types.ts';
import type { Clock } from '../../base/clock.ts';
import type { EventLoopShare } from '../../base/event-loop-share.ts';
import type { Directory } from '../kernel/actors/directory.ts';
import type { Judgements } from '../judgement/judgements.ts';
import type { Scheduler } from '../scheduling/scheduler.ts';
import type { Store } from '../kernel/storage/store.ts';
import type { GroupCommit } from '../kernel/turn/group-commit.ts';
import type { Turn, Turns } from '../kernel/turn/turn.ts';
import { announce } from './announce.ts';
import { BlockedStudies } from './blocked-studies.ts';
import { Deliveries } from './deliveries.ts';
import { messageOf } from './message.ts';
import type { NotificationSettings } from './receivers.ts';

const NONE: NotificationSettings = { receivers: [], link: () => undefined };

interface Parts {
  clock: Clock;
  share: EventLoopShare;
  store: Store;
  turns: Turns;
  groupCommit: GroupCommit;
  directory: Directory;
  scheduler: Scheduler;
  judgements: Judgements;
  settings: NotificationSettings | undefined;
  findings(batchId: Uuid): Promise<Finding[]>;
  /** Called when a delivery or a look at the open studies throws. */
  failed(error: unknown): void;
}

export class Notifications {
  readonly #directory: Directory;
  readonly #receivers: NotificationSettings['receivers'];
  readonly #deliveries: Deliveries;
  readonly #blocked: BlockedStudies;

  constructor(parts: Parts) {
    const { settings = NONE, scheduler } = parts;
    this.#directory = parts.directory;
    this.#receivers = settings.receivers;
    this.#deliveries = new Deliveries({
      ...parts,
      receivers: settings.receivers,
      messageOf: (context) => messageOf(parts, settings, context),
    });
    this.#blocked = new BlockedStudies({ ...parts, openBatches: () => scheduler.openBatches() });
  }

  /** Adds the notifications of a turn that ends. */
  announce(facts: readonly Fact[], turn: Turn): void {
    announce(this.#receivers, () => this.#directory.notifications.size, facts, turn);
  }

  committed(facts: readonly Fact[]): void {
    this.#deliveries.committed(facts);
  }

  tick(): void {
    if (this.#directory.notifications.size > 0) this.#deliveries.sendDue();
    if (this.#receivers.length > 0) this.#blocked.tick();
  }

  async close(): Promise<void> {
    await this.#blocked.stop();
    await this.#deliveries.stop();
  }
}
