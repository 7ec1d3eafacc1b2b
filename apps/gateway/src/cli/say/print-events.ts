// Prints what a turn tells while it runs, and how it ended.
import type { TurnResult } from "@clew/engine-core";
import { toolEndOf } from "../../approvals/refused.ts";
import type { StreamedEvent } from "../../http/event-stream.ts";
import { type Output, printable } from "../../terminal/output.ts";
import { visible, visibleJson } from "../../text/visible.ts";

export interface Shown {
  take(event: StreamedEvent): void;
  /** A line of text is begun and not ended. */
  isWriting(): boolean;
}

export const IT_WAITS =
  '(it waits for its turn; "/waiting" lists what waits, "/waiting clear" takes it back)';

/** A line for each. */
export const showAsJson = (output: Output): Shown => ({
  take: (event) => output.write(`${JSON.stringify(event)}\n`),
  isWriting: () => false,
});

export function showEvents(output: Output): Shown {
  let isWriting = false;
  /** Until its result is told, which comes right behind. */
  let failed: string | undefined;
  const take = (event: StreamedEvent) => {
    if (event.type === "text") {
      output.write(printable(event.delta));
      isWriting = true;
    } else if (event.type === "tool_start")
      output.note(`· ${visible(event.call.name)} ${visibleJson(event.call.arguments)}`);
    else if (event.type === "tool_end") failed = event.isError ? event.name : undefined;
    else if (event.type === "message" && failed !== undefined) {
      const { message } = event;
      const end = message?.role === "toolResult" ? toolEndOf(message) : "failed";
      output.note(`· ${visible(failed)} ${end}`);
      failed = undefined;
    } else if (event.type === "notice") output.note(printable(event.text));
  };
  return { take, isWriting: () => isWriting };
}

export function tellEnd(output: Output, show: Shown, error: TurnResult["error"]): void {
  if (error === null || show.isWriting()) output.line();
  if (error !== null) output.note(describeTurnError(error));
}

/** A failure ends with its code, or else with the kind of what the provider said. */
const describeTurnError = ({ kind, code, message }: NonNullable<TurnResult["error"]>) =>
  kind === "aborted"
    ? "(cancelled; what had arrived was kept)"
    : `clew: ${printable(message)} [${code ?? kind}]`;
