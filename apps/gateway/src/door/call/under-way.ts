// Decides when replies at the door begin, knows which are under way, and ends them.
import { linkSignals } from "@clew/plugin-sdk/host";
import { EndedEarly, IS_STOPPING } from "../../stopping.ts";
import { planArrival, type WaitingLimits } from "../../waiting/plan-arrival.ts";
import { gatewayFull, retryAfter, sessionFull } from "../../waiting/refusals.ts";
import type { SessionGate } from "../../waiting/session-gate.ts";
import { createTurnLine, type TurnLine, type TurnPlace } from "../../waiting/turn-line.ts";

/** Who ended a reply that its client would have heard to its end. */
export class EndedHere extends EndedEarly {
  readonly by: "person" | "time" | "stop";

  constructor(why: string, by: EndedHere["by"]) {
    super(why);
    this.by = by;
  }
}

export interface AskedReply {
  /** Canonical key of its session. */
  key: string;
  /** Of the request, which waits in memory. */
  bytes: number;
  /** It goes on with its session; others are answered beside it. */
  isTurn: boolean;
  /** Aborted when its client goes away. */
  gone: AbortSignal;
}

/** A reply from its request to its end. */
export interface ReplyUnderWay {
  /** Aborted when it is to end: its client has gone, or somebody here said so. */
  readonly signal: AbortSignal;
  /** Resolves when the model may be asked; throws what aborts the signal. */
  granted(): Promise<void>;
  /** It is over. */
  leave(): void;
}

export interface RepliesUnderWay {
  /** Throws BACKLOG_FULL. */
  enter(asked: AskedReply): ReplyUnderWay;
  /** Ends the replies of a session that run, or those that wait; false: there is none. */
  cancel(key: string, which: "running" | "waiting"): boolean;
  /** Keys of the sessions in which something is answered, or waits for that. */
  busy(): ReadonlySet<string>;
  /** Turns that are answered, by the keys of their sessions. */
  running(): ReadonlyMap<string, number>;
  /** Requests that wait for their turn. */
  waiting(): number;
  /** The gateway stops: all end. */
  endAll(): void;
}

export interface UnderWayOptions {
  limits: WaitingLimits & { runningTurns: number };
  /** Of all turns; requests beside sessions, which are short, have one of their own. */
  line: TurnLine;
  gate: SessionGate;
  /** Messages that wait besides. */
  backlog(): number;
  /** For so long a reply may be answered, ms. */
  replyMs: number;
}

interface Reply extends AskedReply {
  isRunning: boolean;
  here: AbortController;
}

export function createRepliesUnderWay(options: UnderWayOptions): RepliesUnderWay {
  const { limits, line, gate, replyMs } = options;
  const besides = createTurnLine(() => limits.runningTurns);
  const replies = new Set<Reply>();
  let isStopping = false;
  const endLate = ({ here }: Reply) =>
    here.abort(
      new EndedHere(
        `The reply was stopped after ${replyMs / 1000} s (agents.defaults.timeoutSeconds); what had arrived is kept.`,
        "time",
      ),
    );
  const stop = ({ here }: Reply) => here.abort(new EndedHere(IS_STOPPING, "stop"));
  const among = (is: (reply: Reply) => boolean) => [...replies].filter(is);
  const waiting = () => among(({ isRunning }) => !isRunning);
  const requireRoom = ({ key, bytes, isTurn }: AskedReply) => {
    const own = waiting().filter((reply) => reply.key === key);
    const standing = {
      messages: own.length,
      bytes: own.reduce((sum, reply) => sum + reply.bytes, 0),
    };
    const backlog = options.backlog() + waiting().length;
    const theirs = isTurn ? line : besides;
    const isBusy = isTurn && !gate.isFree(key, "together");
    const plan = planArrival(
      { whenBusy: "follow", bytes, isPatient: false },
      { isBusy, waiting: standing, hasRoom: theirs.hasRoom(), backlog },
      limits,
    );
    if (plan.kind !== "full") return;
    const usualMs = theirs.usualMs();
    if (plan.where === "session")
      throw sessionFull(key, standing, limits, retryAfter(1, { usualMs, atOnce: 1 }));
    throw gatewayFull(backlog, retryAfter(backlog, { usualMs, atOnce: limits.runningTurns }));
  };
  return {
    enter(asked) {
      requireRoom(asked);
      const reply: Reply = { ...asked, isRunning: false, here: new AbortController() };
      replies.add(reply);
      if (isStopping) stop(reply);
      const { key, isTurn } = asked;
      // One that the platform makes of others keeps its listeners for ever.
      const { signal } = linkSignals(asked.gone, reply.here.signal);
      const alone = isTurn ? gate.enter(key, "together") : undefined;
      const theirs = isTurn ? line : besides;
      let place: TurnPlace | undefined;
      if (alone?.isIn !== false) {
        reply.isRunning = theirs.hasRoom();
        place = theirs.enter();
      }
      let late: NodeJS.Timeout | undefined;
      const leave = () => {
        clearTimeout(late);
        signal.removeEventListener("abort", giveUp);
        replies.delete(reply);
        alone?.leave();
        place?.leave();
      };
      // Who has gone stands in nobody's way.
      const giveUp = () => {
        if (!reply.isRunning) leave();
      };
      signal.addEventListener("abort", giveUp, { once: true });
      return {
        signal,
        leave,
        async granted() {
          await orAborted(signal, alone?.granted);
          place ??= theirs.enter();
          await orAborted(signal, place.granted);
          reply.isRunning = true;
          late = setTimeout(() => endLate(reply), Math.min(MOST_MS, replyMs)).unref();
        },
      };
    },
    cancel(key, which) {
      const isIt = which === "running";
      const found = among((reply) => reply.key === key && reply.isRunning === isIt);
      for (const { here } of found) here.abort(new EndedHere("Cancelled by the person.", "person"));
      return found.length > 0;
    },
    busy: () => new Set([...replies].map(({ key }) => key)),
    running() {
      const counts = new Map<string, number>();
      for (const { key } of among(({ isTurn, isRunning }) => isTurn && isRunning))
        counts.set(key, (counts.get(key) ?? 0) + 1);
      return counts;
    },
    waiting: () => waiting().length,
    endAll() {
      isStopping = true;
      for (const reply of replies) stop(reply);
    },
  };
}

/** A timer takes no more. */
const MOST_MS = 2 ** 31 - 1;

/** Why a reply was ended here; undefined: it was not, or its client went away before. */
export const endedHere = ({ reason }: AbortSignal): EndedHere | undefined =>
  reason instanceof EndedHere ? reason : undefined;

async function orAborted(signal: AbortSignal, done: Promise<void> | undefined): Promise<void> {
  signal.throwIfAborted();
  if (done === undefined) return;
  const aborted = Promise.withResolvers<void>();
  const stop = () => aborted.reject(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  try {
    await Promise.race([done, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
