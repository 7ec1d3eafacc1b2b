// The box in which a message is written.
import { useEffect, useRef } from "preact/hooks";

export interface ComposerProps {
  draft: string;
  isRunning: boolean;
  /** False while the gateway is away: a message could not be sent. */
  canSend: boolean;
  /** Changes when the box should be ready to write in. */
  focusKey: string;
  onDraft(text: string): void;
  /** `steers`: the model is to see it before the reply that is being written ends. */
  onSend(text: string, steers: boolean): void;
  onStop(): void;
}

export function Composer({
  draft,
  isRunning,
  canSend,
  focusKey,
  onDraft,
  onSend,
  onStop,
}: ComposerProps) {
  const box = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    // A keyboard that slides over a small screen should not come unasked.
    if (matchMedia("(hover: hover)").matches) box.current?.focus();
  }, [focusKey]);
  const submit = (steers = false) => {
    // The box is ahead of the draft by up to a frame.
    const text = box.current?.value ?? draft;
    if (canSend && text.trim() !== "") onSend(text, steers);
  };
  const isBlank = draft.trim() === "";
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <label class="hidden" for="message">
        Message
      </label>
      <textarea
        id="message"
        ref={box}
        rows={1}
        dir="auto"
        placeholder="Say something"
        value={draft}
        onInput={(event) => onDraft(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
          event.preventDefault();
          submit(isRunning && (event.ctrlKey || event.metaKey));
        }}
      />
      {isRunning ? (
        <div class="meanwhile">
          {!isBlank && (
            <>
              <button
                type="button"
                class="steer"
                disabled={!canSend}
                title="The model sees it after its next tool result"
                onClick={() => submit(true)}
              >
                Steer
              </button>
              <button
                type="submit"
                class="send"
                disabled={!canSend}
                title="It has its turn when the reply is there"
              >
                Send next
              </button>
            </>
          )}
          <button type="button" class="stop" onClick={onStop}>
            <span aria-hidden="true">■</span> Stop
          </button>
        </div>
      ) : (
        <button type="submit" class="send" disabled={!canSend || isBlank}>
          Send
        </button>
      )}
      <p class="keys" aria-hidden="true">
        {isRunning ? (
          <>
            <kbd>Enter</kbd> sends it to wait · <kbd>Ctrl</kbd>+<kbd>Enter</kbd> steers ·{" "}
            <kbd>Esc</kbd> stops
          </>
        ) : (
          <>
            <kbd>Enter</kbd> sends · <kbd>Shift</kbd>+<kbd>Enter</kbd> new line
          </>
        )}
      </p>
    </form>
  );
}
