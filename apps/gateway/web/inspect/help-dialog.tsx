// All keys of the inspector.
import { useEffect, useRef } from "preact/hooks";
import { BINDINGS, LIST_KEYS, PLOT_DEEDS } from "./keys.ts";
import { MARKS } from "./marks.ts";

export function HelpDialog({ onClose }: { onClose(): void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
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
        {LIST_KEYS.map(([keys, does]) => (
          <div key={does}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>in a list: {does}</dd>
          </div>
        ))}
        {PLOT_DEEDS.map(([deed, does]) => (
          <div key={does}>
            <dt>
              <kbd>{deed}</kbd>
            </dt>
            <dd>in the plot: {does}</dd>
          </div>
        ))}
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

const KEYS: Readonly<Record<string, string>> = {
  ArrowLeft: "←",
  ArrowRight: "→",
  "Shift+ArrowLeft": "Shift ←",
  "Shift+ArrowRight": "Shift →",
  Escape: "Esc",
};
