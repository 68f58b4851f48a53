/** The frame of a card: title, choices, full screen, files of what is drawn, removal. */
import './cards.css';
import { useEffect, useRef, useState, type ReactNode, type RefObject } from 'react';
import { CopyButton } from '../parts/copy.tsx';
import { Menu } from '../parts/menu.tsx';
import type { Rows } from './csv.ts';
import { saveCsv, savePng, saveSvg } from './export.ts';

interface Props {
  /** The name of its files. */
  title: string;
  /** True: as wide as the page. */
  isWide?: boolean | undefined;
  /** The heading, where that is shorter. */
  heading?: string | undefined;
  /** Choices beside the title. */
  aside?: ReactNode;
  /** The table of what is drawn. */
  rows?: (() => Rows) | undefined;
  /** A program of the Python package that draws it. */
  python?: (() => string) | undefined;
  children: (isFull: boolean) => ReactNode;
  /** More buttons of the menu. */
  actions?: ReactNode;
  onRemove: () => void;
}

/** True while the element fills the screen. */
function useFullScreen(element: RefObject<HTMLElement | null>): boolean {
  const [isFull, setFull] = useState(false);
  useEffect(() => {
    const changed = (): void => setFull(document.fullscreenElement === element.current);
    document.addEventListener('fullscreenchange', changed);
    return () => document.removeEventListener('fullscreenchange', changed);
  }, [element]);
  return isFull;
}

export function CardFrame({
  title,
  heading = title,
  isWide = false,
  aside,
  rows,
  python,
  children,
  actions,
  onRemove,
}: Props) {
  const card = useRef<HTMLElement>(null);
  const isFull = useFullScreen(card);
  const picture = (): SVGSVGElement | null => card.current?.querySelector<SVGSVGElement>('.card-plot > svg') ?? null;
  const withPicture = (save: (svg: SVGSVGElement, name: string) => unknown) => (): void => {
    const svg = picture();
    if (svg !== null) void save(svg, title);
  };
  return (
    <section className={isWide ? 'panel card card-wide' : 'panel card'} ref={card}>
      <header>
        <h2 className="grow clip" title={title}>
          {heading}
        </h2>
        {aside}
        <button
          type="button"
          className="quiet"
          aria-label={isFull ? 'Leave full screen' : `${title}: full screen`}
          title={isFull ? 'Leave full screen' : 'Full screen'}
          onClick={() => void (isFull ? document.exitFullscreen() : card.current?.requestFullscreen())}
        >
          <svg viewBox="0 0 12 12" width="12" height="12" aria-hidden="true">
            <path d="M1 4V1h3M8 1h3v3M11 8v3H8M4 11H1V8" fill="none" stroke="currentColor" strokeWidth="1.4" />
          </svg>
        </button>
        <Menu label={<span aria-label={`More about ${title}`}>⋯</span>}>
          {actions}
          {rows !== undefined && (
            <>
              <button type="button" className="quiet" onClick={withPicture(savePng)}>
                Save as PNG
              </button>
              <button type="button" className="quiet" onClick={withPicture(saveSvg)}>
                Save as SVG
              </button>
              <button type="button" className="quiet" onClick={() => saveCsv(rows(), title)}>
                Save as CSV what is drawn
              </button>
            </>
          )}
          {python !== undefined && <CopyButton label="Copy as Python" quiet text={python} />}
          <button type="button" className="quiet" onClick={onRemove}>
            Remove this card
          </button>
        </Menu>
      </header>
      <div className="body">{children(isFull)}</div>
    </section>
  );
}
