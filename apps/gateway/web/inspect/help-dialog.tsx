// All keys of the inspector.
import { useLayoutEffect, useRef } from "preact/hooks";
import { BINDINGS, CHAT_KEYS, LIST_KEYS, PLOT_DEEDS } from "./keys.ts";
import { MARKS } from "./marks.ts";

export function HelpDialog({ onClose }: { onClose(): void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} class="help" aria-label="Keys" onClose={onClose}>
      <header>
        <h2>Keys</h2>
        <button type="button" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </header>
      <dl>
        {BINDINGS.map(({ keys, does }) => (
          <div key={does}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{KEYS[key] ?? key}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
        {PLACES.flatMap(([place, deeds]) =>
          deeds.map(([deed, does]) => (
            <div key={`${place} ${does}`}>
              <dt>
                <kbd>{deed}</kbd>
              </dt>
              <dd>
                {place}: {does}
              </dd>
            </div>
          )),
        )}
      </dl>
      <h3>Signs</h3>
      <dl>
        {Object.values(MARKS).map(({ glyph, label }) => (
          <div key={label}>
            <dt>{glyph}</dt>
            <dd>{label}</dd>
          </div>
        ))}
      </dl>
    </dialog>
  );
}

const PLACES = [
  ["in a list", LIST_KEYS],
  ["in the plot", PLOT_DEEDS],
  ["in the chat", CHAT_KEYS],
] as const;

const KEYS: Readonly<Record<string, string>> = {
  ArrowLeft: "←",
  ArrowRight: "→",
  "Shift+ArrowLeft": "Shift ←",
  "Shift+ArrowRight": "Shift →",
  Escape: "Esc",
};
