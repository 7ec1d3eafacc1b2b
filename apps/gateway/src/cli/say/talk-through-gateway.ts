// Says something in a session that the gateway of the home holds.
import { ContextEngineError, type ErrorCode } from "@clew/plugin-sdk/core";
import type { CommandAnswer } from "../../commands/answer.ts";
import type { WhenBusy } from "../../config/when-busy.ts";
import type { StreamedEvent } from "../../http/event-stream.ts";
import { readEvents } from "../../http/read-events.ts";
import { type Output, printable } from "../../terminal/output.ts";
import type { ChatPort } from "../chat/port.ts";
import { asGatewayGone } from "./gateway-gone.ts";
import { IT_WAITS, type Shown, showAsJson, showEvents, tellEnd } from "./print-events.ts";
import type { ToldQuestions } from "./questions.ts";
import type { Talk } from "./talk.ts";

export interface TalkThroughGatewayOptions {
  port: Pick<ChatPort, "fetch">;
  /** As the person calls the session. */
  session: string;
  output: Output;
  json: boolean;
  whenBusy: WhenBusy | undefined;
  questions: ToldQuestions;
  home: string;
}

type Done = Pick<Extract<StreamedEvent, { type: "done" }>, "outcome" | "error">;

interface Begun {
  own: AbortController;
  events: AsyncIterable<StreamedEvent>;
  /** When it was sent, ms since the epoch. */
  since: number;
}

/** Of what was cancelled before it was sent. */
const NOTHING: AsyncIterable<StreamedEvent> = (async function* () {})();

export function talkThroughGateway(options: TalkThroughGatewayOptions): Talk {
  const { output, json, home } = options;
  const running = new Set<AbortController>();
  const waiting = new Set<Promise<unknown>>();
  async function begin(text: string): Promise<Begun> {
    const own = new AbortController();
    const since = Date.now();
    running.add(own);
    try {
      return { own, events: await send(options, text, own.signal), since };
    } catch (error) {
      running.delete(own);
      if (own.signal.aborted) return { own, events: NOTHING, since };
      throw asGatewayGone(error, { home, since }, own.signal);
    }
  }
  async function tell({ own, events, since }: Begun, show: Shown, tellsWaiting: boolean) {
    try {
      return await tellTurn(events, show, tellsWaiting);
    } catch (error) {
      if (!own.signal.aborted) throw asGatewayGone(error, { home, since }, own.signal);
      // The gateway stops a turn whose client has gone.
      const message = "The run was cancelled.";
      return end(show, { outcome: "aborted", error: { kind: "aborted", message } });
    } finally {
      running.delete(own);
    }
  }
  function end(show: Shown, done: Done): Done["outcome"] {
    if (json) show.take({ type: "done", turnId: null, replyEntryId: null, ...done });
    else tellEnd(output, show, done.error);
    return done.outcome;
  }
  async function tellTurn(
    events: AsyncIterable<StreamedEvent>,
    show: Shown,
    tellsWaiting: boolean,
  ): Promise<Done["outcome"]> {
    let commandEnd: Done["outcome"] | undefined;
    for await (const event of events) {
      options.questions.take(event);
      switch (event.type) {
        case "queued":
          break;
        case "waiting":
          if (json) show.take(event);
          else if (tellsWaiting) output.note(IT_WAITS);
          break;
        case "command":
          commandEnd = event.ok ? "completed" : "failed";
          if (json) show.take(event);
          else if (tellsWaiting) output.note(printable(event.text));
          else output.line(printable(event.text));
          break;
        case "accepted":
          commandEnd = undefined;
          show.take(event);
          break;
        case "error":
          throw new ContextEngineError(event.error.code as ErrorCode, event.error.message);
        case "done":
          // Of a command the answer was all.
          if (commandEnd !== undefined) return commandEnd;
          // What steered a turn ends with that turn, which tells of itself.
          if (event.turnId === null && event.error === null) return event.outcome;
          if (json) show.take(event);
          else tellEnd(output, show, event.error);
          return event.outcome;
        default:
          show.take(event);
      }
    }
    throw new ContextEngineError(
      "GATEWAY_STOPPING",
      'The gateway ended before the reply did; what had arrived is kept, "clew chat" shows it.',
    );
  }
  return {
    isTalking: () => running.size > 0,
    async settled() {
      while (waiting.size > 0) await Promise.allSettled(waiting);
    },
    async sayMeanwhile(text) {
      const ended = tell(await begin(text), showEvents(output), true);
      waiting.add(ended);
      const leave = () => void waiting.delete(ended);
      ended.then(leave, leave);
    },
    async say(text) {
      return tell(await begin(text), json ? showAsJson(output) : showEvents(output), false);
    },
    cancel() {
      for (const each of running)
        each.abort(new DOMException("Cancelled by the person.", "AbortError"));
      return running.size > 0;
    },
  };
}

/** The answer to a command that says nothing in the session. Throws what the gateway refuses. */
export async function commandThrough(
  to: Pick<TalkThroughGatewayOptions, "port" | "session" | "home">,
  line: string,
  signal: AbortSignal,
): Promise<Omit<CommandAnswer, "command">> {
  const since = Date.now();
  try {
    return await answerTo(to, line, signal);
  } catch (error) {
    throw asGatewayGone(error, { home: to.home, since }, signal);
  }
}

async function answerTo(
  to: Pick<TalkThroughGatewayOptions, "port" | "session">,
  line: string,
  signal: AbortSignal,
): Promise<Omit<CommandAnswer, "command">> {
  for await (const event of await send({ ...to, whenBusy: undefined }, line, signal)) {
    if (event.type === "error")
      throw new ContextEngineError(event.error.code as ErrorCode, event.error.message);
    if (event.type !== "command") continue;
    const { ok, text, data } = event;
    return { ok, text, ...(data !== undefined && { data }) };
  }
  throw new ContextEngineError("GATEWAY_STOPPING", `The gateway ended before "${line}" was done.`);
}

/** Throws what the gateway refuses. */
async function send(
  { port, session, whenBusy }: Pick<TalkThroughGatewayOptions, "port" | "session" | "whenBusy">,
  text: string,
  signal: AbortSignal,
): Promise<AsyncIterable<StreamedEvent>> {
  const path = `/api/sessions/${encodeURIComponent(session)}/messages`;
  const response = await port.fetch(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ text, whenBusy, onDisconnect: "abort" }),
    signal,
  });
  if (response.ok && response.body !== null) return readEvents(response.body);
  const body = (await response.json().catch(() => null)) as {
    error?: { code?: string; message?: string };
  } | null;
  throw new ContextEngineError(
    (body?.error?.code ?? "INTERNAL") as ErrorCode,
    body?.error?.message ?? `The gateway answered ${response.status}.`,
  );
}
