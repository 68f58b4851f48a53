/** Progress in the title and the icon of the tab, and a notification when a watched study ends. */

interface Shown {
  id: string;
  name: string;
  status: string;
  /** From 0 to 1. */
  share: number;
}

const ICON_SIZE = 32;
const open = new Set<string>();
let drawn = '';

const isOpen = (status: string): boolean => status === 'Pending' || status === 'Running';

/** Shows the progress of the study on this page. */
export function announce({ id, name, status, share }: Shown): void {
  const title = name === '' ? id.slice(0, 13) : name;
  document.title = isOpen(status)
    ? `${Math.floor(share * 100)} % ${title} · simbatch`
    : `${status}: ${title} · simbatch`;
  drawIcon(status, share);
  if (isOpen(status)) open.add(id);
  // Only a page that is not seen notifies.
  else if (open.delete(id) && document.hidden && wantsNotifications()) {
    const body = `${Math.floor(share * 100)} % of its runs ended`;
    const notice = new Notification(`${title}: ${status}`, { body, icon: '/icon.svg' });
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

const COLOURS: Readonly<Record<string, string>> = { Failed: '#c93a33', Cancelled: '#8d8798', Completed: '#2d9a6b' };

/** A ring that fills: one image of 32 pixels for each percent. */
function drawIcon(status: string, share: number): void {
  const key = `${status} ${Math.floor(share * 100)}`;
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
  ring(top, top + 2 * Math.PI * share, COLOURS[status] ?? '#2f76d2');
  link().href = canvas.toDataURL();
}
