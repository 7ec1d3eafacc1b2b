// Which rows of a long list are drawn, and which pages of it must be read for them.

/** From `first` up to, not including, `end`. */
export interface Span {
  first: number;
  end: number;
}

export interface Viewport {
  scrollTop: number;
  height: number;
  rowHeight: number;
  count: number;
}

/** Rows drawn beyond both edges, so that scrolling shows no gap. */
const BEYOND = 8;
/** The rows drawn change by so many at once: scrolling by a row draws nothing anew. */
const STEP = 8;

/** Pure. */
export function visibleSpan({ scrollTop, height, rowHeight, count }: Viewport): Span {
  const first = stepped(Math.floor, scrollTop / rowHeight - BEYOND);
  const end = stepped(Math.ceil, (scrollTop + height) / rowHeight + BEYOND);
  return { first: clamp(first, 0, count), end: clamp(end, 0, count) };
}

const stepped = (round: (value: number) => number, row: number): number => round(row / STEP) * STEP;

/** Pure. Where to scroll to have a row in sight: nowhere if it is. */
export function scrollToShow(row: number, { scrollTop, height, rowHeight }: Viewport): number {
  const top = row * rowHeight;
  if (top < scrollTop) return top;
  return top + rowHeight > scrollTop + height ? top + rowHeight - height : scrollTop;
}

/** Pure. Numbers of the pages, of `size` rows each, that a span needs and that are not there. */
export function missingPages(
  span: Span,
  size: number,
  isThere: (page: number) => boolean,
): number[] {
  if (span.end <= span.first) return [];
  const from = Math.floor(span.first / size);
  const to = Math.floor((span.end - 1) / size);
  return Array.from({ length: to - from + 1 }, (_, index) => from + index).filter(
    (page) => !isThere(page),
  );
}

export const clamp = (value: number, low: number, high: number): number =>
  Math.min(Math.max(value, low), high);
