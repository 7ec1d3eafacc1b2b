// Reads the bytes of an answer as JSON events, and ends it exactly once.
import type { StopReason, ThinkingCarrier } from "@clew/plugin-sdk/core";
import type { ModelError, ProviderTold, StreamEvent } from "@clew/plugin-sdk/host";
import { isRecord } from "@clew/plugin-sdk/host";
import { createParser } from "eventsource-parser";
import type { DecoderOptions, StreamDecoder } from "../provider.ts";
import type { FailureOrigin } from "./failure-origin.ts";
import { ReplyBuilder } from "./reply.ts";
import { classifyError, invalidResponse } from "./wire-errors.ts";

/** Understands the events of one wire, and tells the answer what they say. */
export interface EventReader {
  /**
   * One event, or the document of an answer that was not streamed. Trusted no further than its
   * outermost shape.
   */
  read(event: Record<string, unknown>): void;
  /** Nothing more comes: ends the answer, if the server said that it is whole. */
  finish(): void;
}

/** What the bytes of a streamed answer say, piece by piece. */
export interface EventFeed {
  /** Cuts may fall anywhere. */
  feed(bytes: Uint8Array): void;
  /** Nothing more comes. */
  end(): void;
}

/** Where the events of a feed go. */
export interface EventSink {
  /** JSON of one event. */
  data(json: string): void;
  /** An event as it was read. */
  event(event: Record<string, unknown>): void;
  /** The bytes are no such stream, or no longer. */
  broken(): void;
}

/** How events are framed. */
export type Framing = (sink: EventSink) => EventFeed;

/** A decoder of the wire named `wire`; `read` is given the answer it fills. */
export function createAnswerDecoder(
  options: DecoderOptions,
  wire: string,
  reader: (answer: Answer) => EventReader,
  framing: Framing = serverSentEvents,
): StreamDecoder {
  const answer = new Answer(options);
  return new AnswerDecoder(answer, options.contentType, wire, reader(answer), framing);
}

const serverSentEvents: Framing = ({ data }) => {
  const utf8 = new TextDecoder();
  const parser = createParser({ onEvent: (event) => data(event.data) });
  return {
    feed: (bytes) => parser.feed(utf8.decode(bytes, { stream: true })),
    // The last event may lack its closing empty line.
    end: () => parser.feed("\n\n"),
  };
};

/** What an answer can be instead of a reply; each completes "… sent". */
const NOT_A_REPLY = {
  page: "a web page instead of a model's answer; check that the base URL ends in the API's version path, such as /v1.",
  noJson: (wire: string) =>
    `a piece of its answer that is no JSON; try again, or check that this server speaks ${wire}.`,
  noStream: (wire: string) =>
    `an answer that is damaged, or in another format; try again, or check that this server speaks ${wire}.`,
  gaveUp: "half an answer and said that it stopped because of an error; try again.",
  brokenOff: "an answer that broke off before its end; try again.",
};

/** One answer while it arrives. */
export class Answer {
  readonly reply: ReplyBuilder;
  readonly #origin: FailureOrigin;
  #events: StreamEvent[] = [];
  #ended = false;
  #told: ProviderTold = {};

  constructor({ call, endpoint, now, secrets = [] }: DecoderOptions) {
    const { provider, api } = call.model;
    this.#origin = { provider, api, endpoint, now, secrets };
    this.reply = new ReplyBuilder(call, now);
  }

  get hasEnded(): boolean {
    return this.#ended;
  }

  /** Anything but a text with something in it is passed over. */
  text(delta: unknown): void {
    if (typeof delta !== "string" || delta === "") return;
    this.reply.text(delta);
    this.#events.push({ type: "text", delta });
  }

  /** The same for what was thought. */
  thinking(delta: unknown, carrier: ThinkingCarrier): void {
    if (typeof delta !== "string" || delta === "") return;
    this.reply.thinking(delta, carrier);
    this.#events.push({ type: "thinking", delta });
  }

  /**
   * Ends the answer as a whole reply. Calls are given out only now: until then one may have been
   * cut off. Some servers say "stop" beside calls, and some "toolUse" without any: what is there
   * counts.
   */
  done(stopReason: StopReason): void {
    if (this.#ended) return;
    this.#ended = true;
    const calls = this.reply.calls();
    for (const call of calls) this.#events.push({ type: "tool_call", call });
    const actual = calls.length > 0 ? "toolUse" : stopReason === "toolUse" ? "stop" : stopReason;
    const told = Object.keys(this.#told).length > 0 && { told: this.#told };
    this.#events.push({ type: "done", message: this.reply.message(actual), ...told });
  }

  /** What the provider says of the call besides; what it said before stays. */
  tell(told: ProviderTold): void {
    this.#told = { ...this.#told, ...told };
  }

  /** Ends it with what had arrived, but for calls: they will never be run. */
  fail(error: ModelError): void {
    if (this.#ended) return;
    this.#ended = true;
    this.reply.dropCalls();
    const stopReason = error.kind === "aborted" ? "aborted" : "error";
    const partial = this.reply.message(stopReason, error.message);
    this.#events.push({ type: "error", error, partial });
  }

  /** Fails it for an error told inside the stream; some servers put the HTTP status into it. */
  failAsTold(error: unknown): void {
    const code = isRecord(error) ? error.code : undefined;
    const isStatus = typeof code === "number" && code >= 400 && code < 600;
    const text = JSON.stringify({ error });
    const failure = { kind: "text", text, ...(isStatus && { status: code }) } as const;
    this.fail(classifyError(failure, this.#origin));
  }

  /** Fails it for something that is no reply; `what` completes "… sent". */
  failAsInvalid(what: string): void {
    this.fail(invalidResponse(what, this.#origin));
  }

  /** Fails it because the server stopped in the middle and said so. */
  failAsGivenUp(): void {
    this.failAsInvalid(NOT_A_REPLY.gaveUp);
  }

  /** Fails it because the provider does not let the model say this. */
  failAsFiltered(): void {
    this.fail({
      kind: "refused",
      message: `The content filter of provider "${this.#origin.provider}" stopped the reply; say it differently.`,
    });
  }

  /**
   * Fails it for a call that cannot be read: a tool must not run with guessed arguments, and a
   * person should know which model could not write them.
   */
  failAsUnreadable(tool: string): void {
    this.failAsInvalid(
      `a call of tool "${tool.slice(0, 64)}" whose arguments are no JSON object, so it was not run; try again, or use a model that calls tools well.`,
    );
  }

  take(): StreamEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }
}

class AnswerDecoder implements StreamDecoder {
  readonly #answer: Answer;
  readonly #reader: EventReader;
  readonly #contentType: string;
  readonly #wire: string;
  readonly #utf8 = new TextDecoder();
  readonly #feed: EventFeed;
  #unstreamed = "";

  constructor(
    answer: Answer,
    contentType: string | null,
    wire: string,
    reader: EventReader,
    framing: Framing,
  ) {
    this.#answer = answer;
    this.#reader = reader;
    this.#wire = wire;
    this.#feed = framing({
      data: (json) => this.#read(json),
      event: (event) => this.#readEvent(event),
      broken: () => this.#answer.failAsInvalid(NOT_A_REPLY.noStream(this.#wire)),
    });
    this.#contentType = contentType?.split(";")[0]?.trim().toLowerCase() ?? "";
  }

  push(bytes: Uint8Array): StreamEvent[] {
    // A server that knows no streaming answers with one JSON document.
    if (this.#contentType === "application/json")
      this.#unstreamed += this.#utf8.decode(bytes, { stream: true });
    else if (this.#contentType === "text/html") this.#answer.failAsInvalid(NOT_A_REPLY.page);
    else this.#feed.feed(bytes);
    return this.#answer.take();
  }

  end(): StreamEvent[] {
    if (this.#unstreamed !== "") this.#read(this.#unstreamed);
    else this.#feed.end();
    this.#finish();
    this.#answer.failAsInvalid(NOT_A_REPLY.brokenOff);
    return this.#answer.take();
  }

  fail(error: ModelError): StreamEvent[] {
    this.#answer.fail(error);
    return this.#answer.take();
  }

  #read(data: string): void {
    if (this.#answer.hasEnded) return;
    const event = data.trim() === "[DONE]" ? "done" : parseEvent(data);
    if (event === "done") this.#finish();
    else if (event === undefined) this.#answer.failAsInvalid(NOT_A_REPLY.noJson(this.#wire));
    // Google's stream is one list of its events unless a client asks for events.
    else if (Array.isArray(event)) for (const one of event.filter(isRecord)) this.#readEvent(one);
    else this.#readEvent(event);
  }

  #readEvent(event: Record<string, unknown>): void {
    if (this.#answer.hasEnded) return;
    if (event.error != null) this.#answer.failAsTold(event.error);
    else this.#reader.read(event);
  }

  #finish(): void {
    if (!this.#answer.hasEnded) this.#reader.finish();
  }
}

function parseEvent(data: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(data);
    return typeof value === "object" && value !== null
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
