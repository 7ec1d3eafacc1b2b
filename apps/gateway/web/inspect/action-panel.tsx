// Buttons that give commands, with the last answer below them.
import { useState } from "preact/hooks";
import { CopyButton } from "../copy-button.tsx";
import { Preformatted } from "../preformatted.tsx";
import type { CommandOutcome } from "./run-command.ts";

export interface ActionButton {
  label: string;
  /** What it does, e.g. the command that does the same. */
  title: string;
  run(): Promise<CommandOutcome>;
}

export interface ActionPanelProps {
  label: string;
  buttons: readonly ActionButton[];
  /** Shown until there is an answer. */
  hint: string;
  /** Something was changed by it. */
  onDone(): void;
}

type Shown = { button: string; answer: CommandOutcome | null };

export function ActionPanel({ label, buttons, hint, onDone }: ActionPanelProps) {
  const [shown, setShown] = useState<Shown | null>(null);
  const isRunning = shown !== null && shown.answer === null;
  const run = async (button: ActionButton) => {
    setShown({ button: button.label, answer: null });
    const answer = await button.run().catch((error: unknown) => ({
      ...{ ok: false, text: error instanceof Error ? error.message : String(error) },
    }));
    setShown({ button: button.label, answer });
    onDone();
  };
  return (
    <div class="actions">
      <p class="buttons">
        {buttons.map((button) => (
          <button
            key={button.label}
            type="button"
            title={button.title}
            disabled={isRunning}
            onClick={() => void run(button)}
          >
            {button.label} {button.title.startsWith("/") && <code>{button.title}</code>}
          </button>
        ))}
      </p>
      <div role="status" aria-label={`Answer: ${label}`}>
        {shown === null ? (
          <p class="soft">{hint}</p>
        ) : shown.answer === null ? (
          <p class="soft">{shown.button}…</p>
        ) : (
          <div class="detail-text" data-refusal={!shown.answer.ok}>
            <CopyButton text={shown.answer.text} />
            <Preformatted label={`${label}: ${shown.button}`}>{shown.answer.text}</Preformatted>
          </div>
        )}
      </div>
    </div>
  );
}
