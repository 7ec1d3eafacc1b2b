// Lets the door recognise what was said by name when its client sends all of it.
import type { TurnEvent } from "@clew/engine-core";
import type { AssistantMessage, ToolCallBlock, ToolResultMessage } from "@clew/plugin-sdk/core";
import { stepsInSlices } from "@clew/plugin-sdk/host";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { headersByName } from "../../passing/raw-headers.ts";
import type { Conversation } from "../../sessions/conversations.ts";
import { takeBackBehind } from "../../sessions/undo-turn.ts";
import type { DoorCall } from "../call/door-call.ts";
import { clientKeyOf } from "../match/client-key.ts";
import type { ReplyEvent } from "../match/known-requests.ts";
import { namedRequest, type PartRequest } from "../match/part-request.ts";
import { replyMarks } from "../match/reply-marks.ts";
import { type SketchedMessage, sketchRequest, sketchSteps } from "../match/sketch.ts";
import type { DoorMemory } from "../memory/door-memory.ts";
import type { JournalLine, StoredMessage } from "../memory/journal-lines.ts";
import type { Recorder } from "../record/recorder.ts";
import { storedReply } from "../record/store-reply.ts";
import { type ReplyBlock, shownReply } from "../reply/reply-writer.ts";
import { formOf } from "../wires/json.ts";

/** A turn by name, as the door's memory is told of it: requests, and the answer to each. */
export interface NamedTurn {
  /** Its request was taken in. `entryId`: what it says stands there. Absent: in results alone. */
  asked(call: DoorCall, entryId?: string): void;
  heard(event: TurnEvent): void;
  /** The answer has ended, and is about to be told to its end. */
  answered(): void;
  /** Its client goes on by all that was said: what follows the newest answer is nobody's. */
  left(): void;
  /** Once the turn is over, while nothing else is done in its session. */
  over(conversation: Conversation): Promise<void>;
}

export interface NamedTurnParts {
  memory: DoorMemory;
  recorder: Pick<Recorder, "note">;
  /** Whether this gateway recognises what clients send of this session. */
  follows: (key: string) => boolean;
}

/** `call`: the first of its requests. */
export function createNamedTurn(
  { memory, recorder, follows }: NamedTurnParts,
  { key, call: first, isClients }: NamedTurnOptions,
): NamedTurn {
  const isFollowed = follows(key);
  /** Until the memory is read. */
  let later: (() => void)[] | undefined = isFollowed ? [] : undefined;
  const ready = isFollowed ? lookAhead(memory, first) : Promise.resolve();
  void ready.then(() => {
    const told = later ?? [];
    later = undefined;
    for (const tell of told) tell();
  });
  const onceReady = (tell: () => void) => {
    if (later === undefined) tell();
    else later.push(tell);
  };
  const lines: ((branch: readonly TranscriptEntry[]) => NotedLine)[] = [];
  let open: { call: DoorCall; request: PartRequest; entryId: string | undefined } | undefined;
  let replies: Heard<AssistantMessage>[] = [];
  let results: Heard<ToolResultMessage>[] = [];
  let newest: string | undefined;
  let isLeft = false;
  const answered = () => {
    if (open === undefined) return;
    const { call, request, entryId } = open;
    open = undefined;
    const event = replyTo(request, { api: call.wire.api, replies, isClients });
    memory.learn(event);
    const ids = replies.map((reply) => reply.entryId);
    const heard = results;
    newest = ids.at(-1);
    lines.push(
      (branch) => {
        const given = heard.length > 0 ? heard : resultsIn(branch);
        return { event: request.event, stored: storedOf(request, { entryId, results: given }) };
      },
      () => ({ event, stored: storedReply(event, ids) }),
    );
  };
  return {
    answered: () => onceReady(answered),
    left() {
      isLeft = true;
    },
    asked(call, entryId) {
      if (!isFollowed) return;
      onceReady(() => {
        const sketch = sketchRequest(call.wire, call.request, keyOf(call));
        open = { call, request: namedRequest(memory.known, key, sketch), entryId };
        [replies, results] = [[], []];
        memory.learn(open.request.event);
      });
    },
    heard(event) {
      if (event.type !== "message") return;
      const { entryId, message } = event;
      onceReady(() => {
        if (message.role === "assistant") replies.push({ entryId, message });
        else if (message.role === "toolResult") results.push({ entryId, message });
      });
    },
    async over(conversation) {
      await ready;
      answered();
      if (isLeft) await keepTo(conversation, newest);
      if (lines.length === 0) return;
      const branch = conversation.session.branch();
      const noted = lines.splice(0).map((lineOf) => lineOf(branch));
      await recorder.note(conversation, noted, memory.notesOf(key));
    },
  };
}

type NotedLine = Omit<JournalLine, "leafId" | "notes">;

/** Results may have been stored before the turn went on. */
const resultsIn = (branch: readonly TranscriptEntry[]): Heard<ToolResultMessage>[] =>
  branch.flatMap((entry) =>
    entry.type === "message" && entry.message.role === "toolResult"
      ? [{ entryId: entry.id, message: entry.message }]
      : [],
  );

interface NamedTurnOptions {
  key: string;
  call: DoorCall;
  isClients: (call: ToolCallBlock) => boolean;
}

/** What was known before is known again, and each message of the request was looked at. */
async function lookAhead(memory: DoorMemory, call: DoorCall): Promise<void> {
  // What cannot be read now costs nobody who names the session their answer.
  await memory.ready().catch(() => {});
  await stepsInSlices(sketchSteps(call.wire, call.request, keyOf(call))).catch(() => {});
}

interface Heard<Message> {
  entryId: string;
  message: Message;
}

/** The call that waits for its result is the newest again. */
async function keepTo(conversation: Conversation, entryId: string | undefined): Promise<void> {
  const branch = conversation.session.branch();
  const keep = branch.findIndex(({ id }) => id === entryId) + 1;
  if (keep > 0 && keep < branch.length) await takeBackBehind(conversation, keep, "client");
}

const keyOf = ({ headers, body }: DoorCall) => clientKeyOf(headersByName(headers), body);

/** As its client was told it: the replies of one answer are one. */
function replyTo(
  { match, event: { session, kind, end, behindFirst } }: PartRequest,
  {
    api,
    replies,
    isClients,
  }: {
    api: DoorCall["wire"]["api"];
    replies: readonly Heard<AssistantMessage>[];
    isClients: (call: ToolCallBlock) => boolean;
  },
): ReplyEvent {
  const { stopReason = "error" } = replies.at(-1)?.message ?? {};
  const isWhole = stopReason !== "error" && stopReason !== "aborted";
  const blocks: ReplyBlock[] = isWhole
    ? replies.flatMap(({ message }) => shownReply(message, isClients))
    : [];
  const calls = blocks.filter((block) => block.type === "toolCall");
  const texts = blocks.flatMap((block) => (block.type === "text" ? [block.text] : []));
  return {
    ...{ type: "reply", session, kind, end, ...(behindFirst !== undefined && { behindFirst }) },
    whole: isWhole,
    ...replyMarks(match, {
      calls: calls.map(({ id }) => id),
      forms: calls.map(({ name, arguments: given }) => formOf(name, given)),
      texts: texts.length > 1 && api in BETWEEN ? [texts.join(BETWEEN[api])] : texts,
    }),
  };
}

/** What stands between the texts of an answer that is one message; of Responses each is one. */
const BETWEEN: Partial<Record<DoorCall["wire"]["api"], string>> = {
  "openai-completions": "\n\n",
  "anthropic-messages": "\n",
  "google-generative-ai": "\n",
};

/** Which entries hold what the request brought. */
function storedOf(
  { sketch, plan }: PartRequest,
  {
    entryId,
    results,
  }: { entryId: string | undefined; results: readonly Heard<ToolResultMessage>[] },
): StoredMessage[] {
  const all = results.map((result) => result.entryId);
  const entriesOf = ({ speaker, answers }: SketchedMessage): string[] => {
    const own = answers.flatMap(
      (id) => results.findLast(({ message }) => message.toolCallId === id)?.entryId ?? [],
    );
    if (speaker === "tools" && own.length > 0) return own;
    return entryId === undefined ? all.slice(-1) : [entryId];
  };
  return plan.fresh.flatMap((index) => {
    const message = sketch.messages[index]!;
    const entries = entriesOf(message);
    return message.token === null || entries.length === 0
      ? []
      : [{ token: message.token, hash: message.hash, entries }];
  });
}
