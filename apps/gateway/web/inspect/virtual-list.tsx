// A list of which only the rows in sight are elements, gone through with the keyboard.
import type { VNode } from "preact";
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { clamp, type Span, scrollToShow, visibleSpan } from "./virtual.ts";

export interface VirtualListProps {
  id: string;
  /** What is listed, for those who do not see it. */
  label: string;
  count: number;
  /** Pixels; the same for all rows. */
  rowHeight: number;
  /** Changes when other things are listed, so that the cursor begins anew. */
  listKey: string;
  /** Changes when rows in sight may be other ones, or gone. Absent: they stay. */
  version?: unknown;
  /** The row that must be in sight, and has the cursor then; null = none in particular. */
  reveal: number | null;
  row(index: number): VNode;
  /** Attributes of a row by which style sheets tell rows apart. */
  rowData(index: number): Record<string, string | undefined>;
  /** Whether what the row stands for has been read. Absent: all rows have. */
  isRead?: (index: number) => boolean;
  /** Of a row that has been read; one that was not yet is opened once it is. */
  onOpen(index: number): void;
  /** The row under the pointer or cursor; null = none. */
  onPoint(index: number | null): void;
  /** The rows drawn; whoever lists reads them if they are not there. Absent: all are there. */
  onSpan?: (span: Span) => void;
}

export function VirtualList(props: VirtualListProps) {
  const { id, label, count, rowHeight, listKey, version, reveal, row, rowData } = props;
  const { isRead = () => true, onOpen, onPoint, onSpan } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const [height, setHeight] = useState(0);
  const [span, setSpan] = useState<Span>({ first: 0, end: 0 });
  const [cursor, setCursor] = useState(0);
  /** The row that was brought into sight, until somebody scrolls away from it. */
  const held = useRef<{ index: number; top: number; height: number } | null>(null);
  /** The row that was asked for before it was read. */
  const asked = useRef<number | null>(null);
  const open = (index: number) => {
    asked.current = isRead(index) ? null : index;
    if (asked.current === null) onOpen(index);
  };
  useEffect(() => {
    if (asked.current !== null) open(asked.current);
  });
  const measure = (element: HTMLElement) => {
    const { clientHeight } = element;
    const isResized = clientHeight !== held.current?.height;
    if (held.current !== null && isResized) hold(held.current.index);
    else if (held.current !== null && Math.abs(element.scrollTop - held.current.top) > 1)
      held.current = null;
    const { scrollTop } = element;
    const next = visibleSpan({ scrollTop, height: clientHeight, rowHeight, count });
    setHeight(clientHeight);
    setSpan((now) => (now.first === next.first && now.end === next.end ? now : next));
  };
  useMeasured(scroller, measure, [rowHeight, count]);
  useEffect(() => {
    if (span.end > span.first) onSpan?.(span);
  }, [span.first, span.end, listKey, version, onSpan]);

  const show = useCallback(
    (index: number) => {
      const element = scroller.current;
      if (element === null) return;
      const { scrollTop: top, clientHeight } = element;
      const to = { scrollTop: top, height: clientHeight, rowHeight, count };
      element.scrollTop = scrollToShow(index, to);
    },
    [rowHeight, count],
  );
  /** Also when there is more or less room for the list. */
  const hold = (index: number) => {
    show(index);
    const element = scroller.current;
    held.current = {
      ...{ index, top: element?.scrollTop ?? 0, height: element?.clientHeight ?? 0 },
    };
  };
  useLayoutEffect(() => {
    const first = clamp(reveal ?? 0, 0, Math.max(0, count - 1));
    asked.current = null;
    setCursor(first);
    hold(first);
    // At once: what stood in sight before would be read for nothing.
    if (scroller.current !== null) measure(scroller.current);
    // A column that was hidden could not scroll.
  }, [listKey, reveal, count > 0, height > 0]);

  const move = (to: number) => {
    const next = clamp(to, 0, count - 1);
    held.current = null;
    asked.current = null;
    setCursor(next);
    show(next);
    onPoint(next);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const to = targetOf(event.key, cursor, Math.max(1, Math.floor(height / rowHeight) - 1), count);
    if (event.ctrlKey || event.metaKey || event.altKey || count === 0) return;
    if (to !== null) move(to);
    else if (event.key === "Enter" || event.key === " ") open(cursor);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const rows = Array.from({ length: span.end - span.first }, (_, index) => span.first + index);
  const isDrawn = cursor >= span.first && cursor < span.end;
  return (
    <div
      class="list"
      id={id}
      ref={scroller}
      role="listbox"
      aria-label={label}
      aria-activedescendant={isDrawn ? `${id}-${cursor}` : undefined}
      tabIndex={0}
      onKeyDown={onKeyDown}
      // Its cursor is what keys are about from now on.
      onFocus={() => count > 0 && onPoint(cursor)}
      onBlur={() => {
        asked.current = null;
      }}
      onPointerLeave={() => onPoint(null)}
    >
      <div class="list-all" role="presentation" style={{ height: `${count * rowHeight}px` }}>
        {rows.map((index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the list has the keys.
          // biome-ignore lint/a11y/useFocusableInteractive: the list has the focus.
          <div
            key={index}
            id={`${id}-${index}`}
            class="row"
            role="option"
            aria-selected={index === cursor}
            aria-setsize={count}
            aria-posinset={index + 1}
            style={{ top: `${index * rowHeight}px`, height: `${rowHeight}px` }}
            {...rowData(index)}
            onClick={() => {
              setCursor(index);
              open(index);
            }}
            onPointerEnter={() => onPoint(index)}
          >
            {row(index)}
          </div>
        ))}
      </div>
    </div>
  );
}

/** Where a key moves the cursor; null = it moves nothing. */
function targetOf(key: string, cursor: number, page: number, count: number): number | null {
  switch (key) {
    case "j":
    case "ArrowDown":
      return cursor + 1;
    case "k":
    case "ArrowUp":
      return cursor - 1;
    case "PageDown":
      return cursor + page;
    case "PageUp":
      return cursor - page;
    case "Home":
      return 0;
    case "End":
      return count - 1;
    default:
      return null;
  }
}

/** Follows what of the list is in sight, once a frame. */
function useMeasured(
  scroller: { current: HTMLDivElement | null },
  measureIt: (element: HTMLElement) => void,
  inputs: readonly unknown[],
): void {
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    let frame = 0;
    const measure = () => {
      frame = 0;
      measureIt(element);
    };
    const later = () => {
      if (frame === 0) frame = requestAnimationFrame(measure);
    };
    measure();
    element.addEventListener("scroll", later, { passive: true });
    const observer = new ResizeObserver(later);
    observer.observe(element);
    return () => {
      cancelAnimationFrame(frame);
      observer.disconnect();
      element.removeEventListener("scroll", later);
    };
  }, inputs);
}
