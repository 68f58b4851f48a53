/** HTML as text: every value is escaped, unless it is markup already. Pure. */

/** Markup that needs no escaping. */
export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type Content = Markup | string | number | undefined | readonly Content[];

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Control characters and direction overrides have no place in a page; a line break is kept. */
const UNPRINTABLE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

const escaped = (text: string): string =>
  // eslint-disable-next-line no-control-regex -- removing control characters is the purpose
  text.replaceAll(UNPRINTABLE, ' ').replaceAll(/[&<>"']/g, (it) => ENTITIES[it] ?? it);

const textOf = (content: Content): string => {
  if (content === undefined) return '';
  if (content instanceof Markup) return content.text;
  if (typeof content === 'object') return content.map(textOf).join('');
  return escaped(String(content));
};

/** A template of markup: `` html`<p>${text}</p>` `` escapes `text`. */
export const html = (parts: TemplateStringsArray, ...values: Content[]): Markup =>
  new Markup(parts.map((part, at) => part + (at < values.length ? textOf(values[at]) : '')).join(''));

/** A column of a table: its heading, and whether it holds numbers. */
export type Heading = readonly [name: string, kind?: 'number'];

/** A table; nothing for no rows. `kind`: a class of the style. */
export function table(
  headings: readonly Heading[],
  rows: readonly (readonly Content[])[],
  kind: '' | 'compact' = '',
): Markup {
  if (rows.length === 0) return html``;
  const classOf = (at: number): Markup => html`${headings[at]?.[1] === 'number' ? html` class="n"` : ''}`;
  const head = headings.map(([name], at) => html`<th scope="col" ${classOf(at)}>${name}</th>`);
  const body = rows.map(
    (row) =>
      html`<tr>
        ${row.map((it, at) => html`<td${classOf(at)}>${it}</td>`)}
      </tr> `,
  );
  return html`<div class="wide ${kind}">
    <table>
      <thead>
        <tr>
          ${head}
        </tr>
      </thead>
      <tbody>
        ${body}
      </tbody>
    </table>
  </div>`;
}

/** A section with its heading; nothing where it has no content. */
export const section = (title: string, ...content: Content[]): Markup =>
  textOf(content).trim() === ''
    ? html``
    : html`<section>
        <h2>${title}</h2>
        ${content}
      </section> `;
