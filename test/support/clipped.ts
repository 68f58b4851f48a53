/** Looks for clipped controls and texts on a page. */
import type { Page } from 'playwright-core';

/**
 * Runs in the page. A text may end in an ellipsis where a title has the whole of it; a control may lie outside of the
 * window within a container that scrolls to it.
 */
const SCRIPT = `(() => {
  const found = [];
  const say = (element, what) =>
    found.push(what + ': ' + element.outerHTML.replaceAll(/\\s+/g, ' ').slice(0, 160));
  const hasTitle = (element) => element.closest('[title]') !== null || element.closest('svg, canvas') !== null;
  const scrolls = (element) => {
    for (let it = element.parentElement; it !== null && it !== document.body; it = it.parentElement) {
      const { overflowX } = getComputedStyle(it);
      if ((overflowX === 'auto' || overflowX === 'scroll') && it.scrollWidth > it.clientWidth) return true;
    }
    return false;
  };
  const isHidden = (element) => !element.checkVisibility({ checkOpacity: false, visibilityProperty: true }) ||
    element.closest('.visually-hidden, .skip') !== null;
  for (const element of document.querySelectorAll('body *')) {
    if (isHidden(element) || element.closest('svg') !== null) continue;
    const style = getComputedStyle(element);
    const isCut = element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 0;
    const hides = style.overflowX === 'hidden' || style.overflowX === 'clip';
    if (isCut && hides && element.childElementCount === 0 && element.textContent.trim() !== '') {
      if (style.textOverflow !== 'ellipsis' || !hasTitle(element)) say(element, 'cut text');
    }
    const isControl = element.matches('button, select, summary, a.button, input, textarea');
    if (!isControl) continue;
    if (isCut && element.matches('button, summary, a.button') && style.textOverflow !== 'ellipsis' && !element.querySelector('.clip'))
      say(element, 'cut control');
    const box = element.getBoundingClientRect();
    if (box.width === 0) continue;
    if ((box.left < -1 || box.right > window.innerWidth + 1) && !scrolls(element)) say(element, 'outside of the window');
    const dialog = element.closest('dialog');
    if (dialog !== null) {
      const frame = dialog.getBoundingClientRect();
      if (box.left < frame.left - 1 || box.right > frame.right + 1) say(element, 'outside of the dialog');
    }
  }
  return found;
})()`;

/** Returns the clipped controls and texts that are visible, each with the beginning of its HTML. */
export const clippedOn = (page: Page): Promise<string[]> => page.evaluate<string[]>(SCRIPT);
