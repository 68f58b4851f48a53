/** The container image that a study names. */

/** The image that a study means; undefined when it names none: empty, or `none`. */
export function imageOf(image: string): string | undefined {
  return image.trim() === '' || image.toLowerCase() === 'none' ? undefined : image;
}
