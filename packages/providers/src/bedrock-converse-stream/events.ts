// Reads the events of a Converse stream out of its bytes.
import { isRecord } from "@clew/plugin-sdk/host";
import type { EventFeed, EventSink, Framing } from "../shared/answer.ts";
import { createMessageFeed, type StreamMessage } from "../shared/event-stream.ts";

/** The status each exception would have had before the stream began. */
const STATUSES: Readonly<Record<string, number>> = {
  validationException: 400,
  accessDeniedException: 403,
  modelTimeoutException: 408,
  modelStreamErrorException: 424,
  throttlingException: 429,
  internalServerException: 500,
  serviceUnavailableException: 503,
};
const ANY_STATUS = 500;

/** Events have their type in the headers; an exception is told as an error with its status. */
export const converseEvents: Framing = (sink): EventFeed => {
  const messages = createMessageFeed();
  let isBroken = false;
  return {
    feed(bytes) {
      if (isBroken) return;
      const complete = messages.feed(bytes);
      isBroken = complete === undefined;
      if (complete === undefined) sink.broken();
      else for (const message of complete) tell(message, sink);
    },
    // Half a message at the end is half an answer, which its missing end tells.
    end() {},
  };
};

const utf8 = new TextDecoder();

function tell({ headers, payload }: StreamMessage, sink: EventSink): void {
  const kind = headers[":message-type"];
  const said = parse(utf8.decode(payload));
  if (kind === "event" && said === undefined) sink.broken();
  else if (kind === "event") sink.event({ ...said, type: headers[":event-type"] });
  else if (kind === "exception")
    sink.event({ error: exception(headers[":exception-type"] ?? "", said?.message) });
  else sink.event({ error: exception("", headers[":error-message"]) });
}

const exception = (type: string, message: unknown): object => ({
  message: typeof message === "string" ? message : "",
  type,
  code: STATUSES[type] ?? ANY_STATUS,
});

function parse(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
