import { Virtualizer, elementScroll, observeElementOffset, observeElementRect } from "@tanstack/virtual-core";
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

interface LongListProps<Item> {
  readonly items: readonly Item[];
  readonly label: string;
  readonly keyOf: (item: Item) => string;
  readonly chosen: string;
  readonly onChoose: (key: string) => void;
  readonly children: (item: Item) => preact.ComponentChildren;
  readonly onEnd?: () => void;
  readonly onTop?: (isTop: boolean) => void;
}

const OVERSCAN = 12;
const NEAR_END = 20;

export function LongList<Item>({ items, label, keyOf, chosen, onChoose, children, onEnd, onTop }: LongListProps<Item>) {
  const element = useRef<HTMLDivElement>(null);
  const [, render] = useState(0);
  const rowHeight = useRowHeight();
  const latestKeyOf = useRef(keyOf);
  latestKeyOf.current = keyOf;
  // A new function makes the virtualizer measure all rows again.
  const getItemKey = useCallback((index: number) => keyOfIndex(items, latestKeyOf.current, index), [items]);
  const list = useRef<Virtualizer<HTMLDivElement, Element>>();
  const options = {
    count: items.length,
    getScrollElement: () => element.current,
    estimateSize: () => rowHeight,
    overscan: OVERSCAN,
    getItemKey,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    onChange: () => render((count) => count + 1),
  };
  list.current ??= new Virtualizer(options);
  list.current.setOptions(options);
  useEffect(() => list.current?._didMount(), []);
  useLayoutEffect(() => list.current?._willUpdate());
  const shown = list.current.getVirtualItems();
  const last = shown.at(-1)?.index ?? 0;
  useEffect(() => {
    if (items.length > 0 && last >= items.length - NEAR_END) onEnd?.();
  }, [items.length, last, onEnd]);
  const move = (step: number): void => {
    const at = items.findIndex((item) => keyOf(item) === chosen);
    const next = items[Math.max(0, Math.min(items.length - 1, at + step))];
    if (next === undefined) return;
    onChoose(keyOf(next));
    list.current?.scrollToIndex(Math.max(0, at + step));
  };
  return (
    <div
      ref={element}
      class="long-list"
      role="listbox"
      tabIndex={0}
      aria-label={label}
      aria-activedescendant={chosen === "" ? undefined : `row-${chosen}`}
      onScroll={({ currentTarget }) => onTop?.(currentTarget.scrollTop < rowHeight)}
      onKeyDown={(event) => {
        const step = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: 10, PageUp: -10 }[event.key];
        if (step === undefined || event.ctrlKey || event.metaKey) return;
        event.preventDefault();
        move(step);
      }}
    >
      <div class="inside" style={{ height: `${list.current.getTotalSize()}px` }}>
        {shown.map(({ index, start, key }) => {
          const item = items[index];
          if (item === undefined) return null;
          const name = keyOf(item);
          return (
            <div
              key={key}
              id={`row-${name}`}
              role="option"
              aria-selected={name === chosen}
              aria-setsize={items.length}
              aria-posinset={index + 1}
              class="item"
              style={{ transform: `translateY(${start}px)` }}
              onClick={() => onChoose(name)}
            >
              {children(item)}
            </div>
          );
        })}
      </div>
    </div>
  );
}

function keyOfIndex<Item>(items: readonly Item[], keyOf: (item: Item) => string, index: number): string {
  const item = items[index];
  return item === undefined ? String(index) : keyOf(item);
}

/** Rows are higher on touch screens. */
function useRowHeight(): number {
  const [height] = useState(() => Number.parseInt(getComputedStyle(document.documentElement).getPropertyValue("--row"), 10));
  return Number.isNaN(height) ? 32 : height;
}
