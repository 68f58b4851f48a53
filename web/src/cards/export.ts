/** A drawn card as a file: SVG and PNG of the picture, CSV of what is drawn. */
import { saveFile } from '../data/download.ts';
import { colour } from '../theme.ts';
import { csvText, type Rows } from './csv.ts';

/** Pixels of a PNG for each pixel of the page. */
const PNG_SCALE = 2;

/** The picture as a file by itself: the colours of the theme are in it, and nothing of the pointer. */
export function svgText(svg: SVGSVGElement, title: string): string {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  for (const tip of copy.querySelectorAll('[aria-label="tip"], [data-mark="tip"]')) tip.remove();
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  copy.setAttribute('font-family', 'system-ui, sans-serif');
  copy.setAttribute('font-size', '12');
  copy.removeAttribute('class');
  copy.style.color = colour('text');
  const name = document.createElementNS('http://www.w3.org/2000/svg', 'title');
  name.textContent = title;
  const ground = document.createElementNS('http://www.w3.org/2000/svg', 'rect');
  ground.setAttribute('width', '100%');
  ground.setAttribute('height', '100%');
  ground.setAttribute('fill', 'var(--panel)');
  copy.prepend(name, ground);
  return new XMLSerializer()
    .serializeToString(copy)
    .replaceAll(/var\(--([\w-]+)\)/g, (_, variable: string) => colour(variable) || 'none');
}

export function saveSvg(svg: SVGSVGElement, name: string): void {
  saveFile(new Blob([svgText(svg, name)], { type: 'image/svg+xml' }), name, 'svg');
}

export async function savePng(svg: SVGSVGElement, name: string): Promise<void> {
  const image = new Image();
  // The policy of the page allows images of data, not of blobs.
  image.src = `data:image/svg+xml,${encodeURIComponent(svgText(svg, name))}`;
  await image.decode();
  const canvas = document.createElement('canvas');
  canvas.width = svg.clientWidth * PNG_SCALE;
  canvas.height = svg.clientHeight * PNG_SCALE;
  canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
  const data = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/png'));
  if (data !== null) saveFile(data, name, 'png');
}

export function saveCsv(rows: Rows, name: string): void {
  saveFile(new Blob([csvText(rows)], { type: 'text/csv' }), name, 'csv');
}
