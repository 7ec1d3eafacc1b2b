// Shows messages that wait for their turn, with the buttons that take them back.
import type { WaitingView } from "../src/waiting/waiting-message.ts";

export function Waiting({
  messages,
  onTakeBack,
}: {
  messages: readonly WaitingView[];
  /** Absent: all of them. */
  onTakeBack(id?: string): void;
}) {
  if (messages.length === 0) return null;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
    <section class="waiting" aria-label="Messages that wait" tabIndex={0}>
      <ul>
        {messages.map(({ id, text, images, whenBusy, problem }) => (
          <li key={id}>
            <span>{problem === null ? HOW[whenBusy] : `Could not begin: ${problem}`}</span>
            <span class="said" dir="auto">
              {text === "" ? `${images} pictures` : text}
            </span>
            <button type="button" aria-label={`Take back: ${text}`} onClick={() => onTakeBack(id)}>
              Take back
            </button>
          </li>
        ))}
      </ul>
      {messages.length > 1 && (
        <button type="button" onClick={() => onTakeBack()}>
          Take back all {messages.length}
        </button>
      )}
    </section>
  );
}

const HOW: Record<WaitingView["whenBusy"], string> = { follow: "Next:", steer: "Steers:" };
