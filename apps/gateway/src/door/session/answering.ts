// Writes what happens in a turn as the answer to one request.
import type { TurnEvent, TurnResult } from "@clew/engine-core";
import type { AssistantMessage, ToolCallBlock, Usage } from "@clew/plugin-sdk/core";
import type { RawHeaders } from "../../passing/raw-headers.ts";
import { wholeRound } from "../../whole-round.ts";
import { answerWith, type DoorCall, type DoorOutlet, wantsEvents } from "../call/door-call.ts";
import type { LoggedRequest, WhyRefused } from "../call/log-request.ts";
import { REPLY_WRITERS } from "../reply/find-writer.ts";
import {
  type ReplyBlock,
  type ReplyEnd,
  type ReplyHead,
  shownReply,
} from "../reply/reply-writer.ts";
import { restOfReply, usageIsAsked } from "../reply/tell-reply.ts";
import type { DoorAnswer } from "../wires/door-wire.ts";
import { createPacedWriter } from "./paced-writer.ts";
import { turnErrorAnswer } from "./turn-errors.ts";

export interface Answering {
  /** Settles when nothing more will be written. */
  readonly ended: Promise<void>;
  readonly hasEnded: boolean;
  /** How it ended, and what its model calls took. */
  readonly told: Pick<LoggedRequest, "why" | "usage"> & {
    outcome: "completed" | "failed" | "aborted";
  };
  /** From now on there is a reply. */
  begin(id: string): void;
  tell(event: TurnEvent): void;
  /** The model waits for what the client's tools give. */
  pause(): void;
  finish(result: AnsweredTurn): void;
  /** `failure`: as of the log. */
  fail(answer: DoorAnswer, failure: string): void;
}

/** What is told of a turn that is over. `report` is absent of one that was over before. */
export type AnsweredTurn = Pick<TurnResult, "error" | "reply"> &
  Partial<Pick<TurnResult, "report">>;

export interface AnsweringOptions {
  call: DoorCall;
  outlet: DoorOutlet;
  headers: RawHeaders;
  /** Calls that the client makes; others are Clew's own business. */
  isClients: (call: ToolCallBlock) => boolean;
  now: () => number;
  /** Between signs of life, ms. */
  idleMs?: number;
}

const IDLE_MS = 10_000;

export function createAnswering(options: AnsweringOptions): Answering {
  const { call, outlet, headers, isClients, now, idleMs = IDLE_MS } = options;
  const { wire, request } = call;
  const writer = REPLY_WRITERS[wire.api];
  const isEvents = wantsEvents(wire, call);
  const head: ReplyHead = {
    id: "",
    model: request.model || "clew",
    createdAt: now(),
    repeated: repeated(call),
  };
  const { promise: ended, resolve: settle } = Promise.withResolvers<void>();
  const blocks: ReplyBlock[] = [];
  let usage: Usage | undefined;
  let stream: ReturnType<typeof writer.stream> | undefined;
  let hasEnded = false;
  let why: WhyRefused | undefined;
  /** Something of the message that is being written was told already. */
  let wasTold = false;
  const paced = createPacedWriter(outlet);
  const idle = setInterval(() => {
    if (stream !== undefined && paced.isQuiet(now() - idleMs)) write(stream.idle());
  }, idleMs).unref();
  /** Until there is something to tell, a status can say that there will be no reply. */
  const write = (text: string) => {
    if (stream !== undefined && !outlet.hasBegun) {
      const type = isEvents ? "text/event-stream" : "application/json";
      outlet.begin(200, [
        ["content-type", `${type}; charset=utf-8`],
        ["cache-control", "no-cache"],
        ...headers,
      ]);
      paced.write(stream.begin(), now());
    }
    paced.write(text, now());
  };
  const close = (last: () => void) => {
    if (hasEnded) return;
    hasEnded = true;
    clearInterval(idle);
    // To who has left by now it is not written to the end.
    void wholeRound().then(async () => {
      last();
      await paced.settled();
      outlet.end();
      settle();
    });
  };
  const end = (stopReason: ReplyEnd["stopReason"]) =>
    close(() => {
      if (stream !== undefined) return write(stream.end({ stopReason, usage }));
      answerWith(
        outlet,
        { status: 200, body: writer.document(head, blocks, { stopReason, usage }) },
        headers,
      );
    });
  const fail = (answer: DoorAnswer, failure: string) =>
    close(() => {
      const status = outlet.hasBegun ? undefined : answer.status;
      why = { status, failure, reason: answer.reason };
      if (stream !== undefined && outlet.hasBegun) write(stream.fail(answer));
      else answerWith(outlet, answer, headers);
    });
  const tellMessage = (message: AssistantMessage) => {
    usage = sumOf(usage, message.usage);
    const shown = shownReply(message, isClients);
    blocks.push(...shown);
    if (stream === undefined || (shown.length === 0 && !outlet.hasBegun)) return;
    write(restOfReply(stream, { blocks: shown, wasTold }));
    wasTold = false;
  };
  return {
    ended,
    get hasEnded() {
      return hasEnded;
    },
    get told(): Answering["told"] {
      const ended = why === undefined ? "completed" : "failed";
      return {
        ...{ outcome: outlet.gone.aborted ? "aborted" : ended, usage: usage ?? null },
        ...(why !== undefined && { why }),
      };
    },
    begin(id) {
      head.id = id;
      if (!request.streaming || hasEnded) return;
      stream = writer.stream(head, { usage: usageIsAsked(call.body), isEvents });
    },
    tell(event) {
      if (hasEnded) return;
      if (event.type === "message" && event.message.role === "assistant")
        return tellMessage(event.message);
      if (stream === undefined || (event.type !== "text" && event.type !== "thinking")) return;
      if (event.delta === "") return;
      wasTold = true;
      write(stream[event.type](event.delta));
    },
    pause: () => end("toolUse"),
    finish({ error, reply, report }) {
      if (error !== null) fail(turnErrorAnswer(wire, error, report), error.code ?? error.kind);
      else end(reply?.stopReason === "length" ? "length" : "stop");
    },
    fail,
  };
}

function sumOf(a: Usage | undefined, b: Usage | undefined): Usage | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
    totalTokens: a.totalTokens + b.totalTokens,
  };
}

/** What a response of Responses says of its request. */
const REPEATED = [
  ...["instructions", "metadata", "parallel_tool_calls", "temperature", "tool_choice", "tools"],
  ...["top_p", "previous_response_id", "store", "conversation", "reasoning", "text", "truncation"],
  ...["max_output_tokens", "user", "background", "service_tier"],
];

function repeated({ body, wire }: DoorCall): Record<string, unknown> {
  if (wire.api !== "openai-responses") return {};
  const { conversation } = body;
  const members = REPEATED.filter((name) => body[name] !== undefined);
  return {
    ...Object.fromEntries(members.map((name) => [name, body[name]])),
    ...(typeof conversation === "string" && { conversation: { id: conversation } }),
  };
}
