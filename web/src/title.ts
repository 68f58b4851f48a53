/** The level and the progress in the title and the icon of the tab, and a notification when a watched study ends. */

import { LEVEL_WORDS } from '../../src/contract/enums.ts';
import type { AnswerLevel, StudyAnswer } from '../../src/contract/types.ts';

interface Shown {
  id: string;
  name: string;
  status: string;
  /** Share of the runs that have ended, from 0 to 1. */
  share: number;
  /** Undefined before it is known. */
  answer: StudyAnswer | undefined;
}

const ICON_SIZE = 32;
const open = new Set<string>();
let drawn = '';

const isOpen = (status: string): boolean => status === 'Pending' || status === 'Running';

/** Shows the level of the study on this page, and its progress while it is open. */
export function announce({ id, name, status, share, answer }: Shown): void {
  const title = name === '' ? id.slice(0, 13) : name;
  if (isOpen(status)) open.add(id);
  // An answer of before the end is replaced within moments.
  const isStale = !isOpen(status) && (answer?.level === 'running' || answer?.level === 'blocked');
  if (answer === undefined || isStale) {
    document.title = `${title} · simbatch`;
    return;
  }
  const done = isOpen(status) ? ` ${Math.floor(share * 100)} %` : '';
  document.title = `${LEVEL_WORDS[answer.level]}${done}: ${title} · simbatch`;
  drawIcon(answer.level, share);
  // Only a page that is not seen notifies.
  if (!isOpen(status) && open.delete(id) && document.hidden && wantsNotifications()) {
    const notice = new Notification(title, { body: answer.sentence, icon: '/icon.svg' });
    notice.addEventListener('click', () => window.focus());
  }
}

/** The title of a page without progress. */
export function setTitle(text: string): void {
  document.title = `${text} · simbatch`;
  if (drawn === '') return;
  drawn = '';
  link().href = '/icon.svg';
}

/** `unsupported` where the browser has no notifications, as on pages without HTTPS from other machines. */
export const notifyPermission = (): NotificationPermission | 'unsupported' =>
  'Notification' in window && window.isSecureContext ? Notification.permission : 'unsupported';
const wantsNotifications = (): boolean => notifyPermission() === 'granted';

/** Asks the browser for the permission. */
export const askToNotify = (): Promise<NotificationPermission> => Notification.requestPermission();

const link = (): HTMLLinkElement => document.querySelector<HTMLLinkElement>('link[rel=icon]')!;

const COLOURS: Readonly<Record<AnswerLevel, string>> = {
  ok: '#2d9a6b',
  not_ok: '#c93a33',
  not_enough: '#d58a1c',
  blocked: '#c93a33',
  running: '#2f76d2',
  cancelled: '#8d8798',
};

/** A ring that fills: one image of 32 pixels for each percent. */
function drawIcon(level: AnswerLevel, share: number): void {
  const key = `${level} ${Math.floor(share * 100)}`;
  if (key === drawn) return;
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [ICON_SIZE, ICON_SIZE];
  const context = canvas.getContext('2d');
  if (context === null) return;
  drawn = key;
  const ring = (from: number, to: number, colour: string): void => {
    context.beginPath();
    context.lineWidth = 7;
    context.strokeStyle = colour;
    context.arc(ICON_SIZE / 2, ICON_SIZE / 2, 12, from, to);
    context.stroke();
  };
  const top = -Math.PI / 2;
  ring(0, 2 * Math.PI, '#b9c1cc');
  ring(top, top + 2 * Math.PI * share, COLOURS[level]);
  link().href = canvas.toDataURL();
}
