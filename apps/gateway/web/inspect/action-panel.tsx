// Buttons that give commands, with the last answer below them.
import { useEffect, useRef, useState } from "preact/hooks";
import { CopyButton } from "../copy-button.tsx";
import { Preformatted } from "../preformatted.tsx";
import type { CommandOutcome } from "./run-command.ts";

export interface ActionButton {
  label: string;
  /** What it does, e.g. the command that does the same. */
  title: string;
  run(): Promise<CommandOutcome>;
  /** What a person may do now that they know the answer; null, or absent = nothing. */
  next?(answer: CommandOutcome): ActionButton | null;
}

export interface ActionPanelProps {
  label: string;
  buttons: readonly ActionButton[];
  /** Shown until there is an answer. */
  hint: string;
  /** Something was changed by it. */
  onDone(): void;
}

type Shown = { button: string; answer: CommandOutcome | null; next: ActionButton | null };

export function ActionPanel({ label, buttons, hint, onDone }: ActionPanelProps) {
  const [shown, setShown] = useState<Shown | null>(null);
  const [line, question] = [
    useRef<HTMLParagraphElement>(null),
    useRef<HTMLParagraphElement>(null),
  ] as const;
  const isRunning = shown !== null && shown.answer === null;
  const run = async (button: ActionButton) => {
    if (isRunning) return;
    setShown({ button: button.label, answer: null, next: null });
    const answer = await button.run().catch((error: unknown) => ({
      ...{ ok: false, text: error instanceof Error ? error.message : String(error) },
    }));
    setShown({ button: button.label, answer, next: button.next?.(answer) ?? null });
    onDone();
  };
  const next = shown?.next ?? null;
  const wasAsked = useRef(false);
  // To what changes nothing; and back, once it is answered.
  useEffect(() => {
    const place = next !== null ? question : wasAsked.current ? line : null;
    wasAsked.current = next !== null;
    place?.current?.querySelector<HTMLElement>("button:last-of-type")?.focus();
  }, [next]);
  return (
    <div class="actions">
      <p class="buttons" ref={line}>
        {buttons.map((button) => (
          <button
            key={button.label}
            type="button"
            title={button.title}
            // Not disabled: the focus would be lost.
            aria-disabled={isRunning}
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
      {next !== null && (
        <p class="buttons" ref={question}>
          <button type="button" title={next.title} onClick={() => void run(next)}>
            {next.label}
          </button>
          <button type="button" onClick={() => setShown(null)}>
            Leave it
          </button>
        </p>
      )}
    </div>
  );
}
