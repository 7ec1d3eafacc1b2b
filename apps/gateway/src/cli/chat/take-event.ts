// Decides what of a session's events is shown, and what is known of its running turn.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { toolEndOf } from "../../approvals/refused.ts";
import { foldChat } from "../../conversation/chat-view.ts";
import type { GatewayEvent, RunningTurn } from "../../events/shapes.ts";
import { textIn } from "../../text/shown-text.ts";
import { visibleJson } from "../../text/visible.ts";
import type { Conversation, LiveTurn } from "./conversation.ts";
import { countWords, type Piece, piecesOf } from "./piece.ts";
import { endText, NO_REPLY, takeText } from "./reply-lines.ts";

export interface Taken {
  conversation: Conversation;
  pieces: readonly Piece[];
  /** What a person said that is stored now; undefined: too large to be told. Null = nothing. */
  accepted: { text: string | undefined } | null;
  /** A turn is over, or something else changed how the session stands. */
  isChanged: boolean;
  /** Of the turn that is over; null = none is. */
  turnMs: number | null;
}

/** Pure. `now`: ms since the epoch. `isShown`: what is told to be stored was read, and is shown. */
export function takeEvent(
  conversation: Conversation,
  event: GatewayEvent,
  now: number,
  isShown = false,
): Taken {
  const taken = takeAny(conversation, event, now);
  return isShown ? { ...taken, pieces: [] } : taken;
}

function takeAny(conversation: Conversation, event: GatewayEvent, now: number): Taken {
  if (event.type === "hello" || event.type === "reset") return join(conversation, event, now);
  if ("session" in event && event.session !== conversation.key) return nothing(conversation);
  const { turn } = conversation;
  switch (event.type) {
    case "started":
      return nothing({ ...conversation, turn: beginning(now) });
    case "accepted":
      return accept(conversation, event);
    case "call":
      return turn === null
        ? nothing(conversation)
        : withTurn(conversation, { ...turn, isQuiet: true });
    case "thinking":
      return turn === null ? nothing(conversation) : think(conversation, turn, event.delta, now);
    case "text":
      return turn === null ? nothing(conversation) : write(conversation, turn, event.delta, now);
    case "message":
      // What a person says in the middle of a turn is stored like a part of it.
      if (event.message?.role === "user") return accept(conversation, event);
      return turn === null ? nothing(conversation) : store(conversation, turn, event.message, now);
    case "tool_start":
      return turn === null ? nothing(conversation) : startTool(conversation, turn, event.call, now);
    case "tool_end":
      return turn === null ? nothing(conversation) : endTool(conversation, turn, event, now);
    case "notice":
      return show(conversation, [{ kind: "note", text: event.text }]);
    case "compaction": {
      const { compacted, tokensBefore, tokensAfter } = event.compaction;
      if (!compacted) return nothing(conversation);
      const sizes =
        tokensBefore === null || tokensAfter === null
          ? ""
          : `: ${tokensBefore.toLocaleString("en-US")} → ${tokensAfter.toLocaleString("en-US")} tokens`;
      return {
        ...show(conversation, [{ kind: "mark", text: `Compacted${sizes}` }]),
        isChanged: true,
      };
    }
    case "done":
      return end(conversation, event, now);
    case "session":
      return { ...nothing(conversation), isChanged: true };
    case "engine": {
      const told: Piece[] =
        event.reason === undefined
          ? []
          : [
              {
                kind: "note",
                text: `Engine ${event.engineId ?? ""} was set aside: ${event.reason}`,
              },
            ];
      return { ...show(conversation, told), isChanged: true };
    }
    default:
      return nothing(conversation);
  }
}

const beginning = (since: number): LiveTurn => ({
  ...{ since, isQuiet: true, thought: null, reply: NO_REPLY, hasBegun: false },
  ...{ tools: {}, ended: null },
});

const nothing = (conversation: Conversation): Taken => show(conversation, []);

const show = (conversation: Conversation, pieces: readonly Piece[]): Taken => ({
  ...{ conversation, pieces, accepted: null, isChanged: false, turnMs: null },
});

const withTurn = (
  conversation: Conversation,
  turn: LiveTurn,
  pieces: readonly Piece[] = [],
): Taken => show({ ...conversation, turn }, pieces);

function accept(
  conversation: Conversation,
  { entryId, message }: Extract<GatewayEvent, { type: "accepted" | "message" }>,
): Taken {
  const pieces: Piece[] =
    message === undefined
      ? []
      : foldChat([{ type: "message", id: entryId, message }]).flatMap(piecesOf);
  const isPersons = message === undefined || pieces.some(({ kind }) => kind === "person");
  const text = message?.role === "user" ? textIn(message.content) : undefined;
  return { ...show(conversation, pieces), accepted: isPersons ? { text } : null };
}

function think(conversation: Conversation, turn: LiveTurn, delta: string, now: number): Taken {
  const { words, since } = turn.thought ?? { words: 0, since: now };
  const thought = { words: words + countWords(delta), since };
  return withTurn(conversation, { ...turn, thought, isQuiet: false });
}

/** What was thought comes before what is said. */
function thoughtPieces({ thought }: LiveTurn, now: number): Piece[] {
  return thought === null
    ? []
    : [{ kind: "thought", words: thought.words, ms: now - thought.since }];
}

function write(conversation: Conversation, turn: LiveTurn, delta: string, now: number): Taken {
  const thoughts = thoughtPieces(turn, now);
  const { reply, lines } = takeText(turn.reply, delta);
  const said = replyPieces(turn, lines);
  const hasBegun = turn.hasBegun || said.length > 0;
  return withTurn(conversation, { ...turn, thought: null, isQuiet: false, reply, hasBegun }, [
    ...thoughts,
    ...said,
  ]);
}

const replyPieces = ({ hasBegun }: LiveTurn, lines: ReturnType<typeof endText>): Piece[] =>
  lines.length === 0 ? [] : [{ kind: "reply", lines, isFirst: !hasBegun }];

/** The message is whole: what of it was not told in pieces is shown now. */
function store(
  conversation: Conversation,
  turn: LiveTurn,
  message: AgentMessage | undefined,
  now: number,
): Taken {
  if (message?.role === "toolResult" || turn.ended !== null)
    return tellTool(conversation, turn, message);
  if (message !== undefined && message.role !== "assistant") return nothing(conversation);
  const { whole } = turn.reply;
  const stored = message === undefined ? whole : textIn(message.content);
  const missing = stored.startsWith(whole) ? stored.slice(whole.length) : "";
  const { reply, lines } = takeText(turn.reply, missing);
  const said = replyPieces(turn, [...lines, ...endText(reply)]);
  return withTurn(
    conversation,
    { ...turn, thought: null, reply: NO_REPLY, hasBegun: turn.hasBegun || said.length > 0 },
    [...thoughtPieces(turn, now), ...said],
  );
}

function startTool(
  conversation: Conversation,
  turn: LiveTurn,
  { id, name, arguments: given }: { id: string; name: string; arguments?: unknown },
  now: number,
): Taken {
  const input = given === undefined ? "…" : visibleJson(given);
  return withTurn(conversation, {
    ...turn,
    isQuiet: false,
    tools: { ...turn.tools, [id]: { name, input, since: now } },
  });
}

function endTool(
  conversation: Conversation,
  turn: LiveTurn,
  { callId, name, isError }: { callId: string; name: string; isError: boolean },
  now: number,
): Taken {
  const { [callId]: tool, ...tools } = turn.tools;
  const ms = tool === undefined ? null : now - tool.since;
  const ended = { name: tool?.name ?? name, input: tool?.input ?? "", isError, ms };
  return withTurn(conversation, { ...turn, tools, ended, hasBegun: false });
}

/** Its result, which comes right behind its end, says whether it was refused. */
function tellTool(
  conversation: Conversation,
  turn: LiveTurn,
  message: AgentMessage | undefined,
): Taken {
  if (turn.ended === null) return nothing(conversation);
  const { isError, ...told } = turn.ended;
  const end = toolEndOf(message?.role === "toolResult" ? message : { isError });
  return withTurn(conversation, { ...turn, ended: null }, [{ kind: "tool", ...told, end }]);
}

function end(
  conversation: Conversation,
  { outcome, error }: Extract<GatewayEvent, { type: "done" }>,
  now: number,
): Taken {
  const { turn } = conversation;
  const rest =
    turn === null ? [] : [...thoughtPieces(turn, now), ...replyPieces(turn, endText(turn.reply))];
  return {
    ...show({ ...conversation, turn: null }, [...rest, ...endingPieces(outcome, error)]),
    isChanged: true,
    turnMs: turn === null ? null : now - turn.since,
  };
}

type Ended = Extract<GatewayEvent, { type: "done" }>;

function endingPieces(outcome: Ended["outcome"], error: Ended["error"]): Piece[] {
  if (outcome === "aborted" || error?.kind === "aborted")
    return [{ kind: "note", text: "(stopped; what had arrived was kept)" }];
  if (error === null) return [];
  return [{ kind: "problem", text: `${error.message} [${error.code ?? error.kind}]` }];
}

/** What happened while nobody listened is in the session; only the rest of a reply is shown. */
function join(
  conversation: Conversation,
  event: Extract<GatewayEvent, { type: "hello" | "reset" }>,
  now: number,
): Taken {
  const running = event.running.find(({ session }) => session === conversation.key);
  const { turn } = conversation;
  if (running === undefined) {
    if (turn === null) return { ...nothing(conversation), isChanged: event.type === "reset" };
    const missed: Piece = {
      kind: "note",
      text: "(the end of this turn was missed; Ctrl-O shows the session)",
    };
    const rest = replyPieces(turn, endText(turn.reply));
    return { ...show({ ...conversation, turn: null }, [...rest, missed]), isChanged: true };
  }
  return joinTurn(conversation, running, now);
}

function joinTurn(conversation: Conversation, running: RunningTurn, now: number): Taken {
  const begun = conversation.turn ?? beginning(Date.parse(running.startedAt) || now);
  const { whole } = begun.reply;
  const isContinued = running.text.startsWith(whole);
  const turn = isContinued ? begun : { ...begun, reply: NO_REPLY };
  const tools = Object.fromEntries(
    running.tools.map(({ id, name, arguments: given }) => [
      id,
      begun.tools[id] ?? {
        name,
        input: given === undefined ? "…" : visibleJson(given),
        since: now,
      },
    ]),
  );
  const delta = isContinued ? running.text.slice(whole.length) : running.text;
  return write(conversation, { ...turn, tools }, delta, now);
}
