// What clients of model APIs reach of a gateway.
import { setTimeout as sleep } from "node:timers/promises";
import { isAbort } from "@clew/plugin-sdk/core";
import { fromJson } from "../../own-json.ts";
import type { DoorJournals } from "../../storage/door-journals.ts";
import type { StartedSession } from "../../subagents/session-tree.ts";
import { createAskAcross } from "../across/answer-across.ts";
import { createRememberedReplies } from "../across/remembered-replies.ts";
import { type BodyReader, createBodyReader } from "../body/read-body.ts";
import { answerWith, type DoorCall, type DoorOutlet, type DoorVisit } from "../call/door-call.ts";
import { logRefusal } from "../call/log-request.ts";
import { type DoorParts, doorAgent } from "../call/parts.ts";
import { createDoorMemory, type DoorMemory } from "../memory/door-memory.ts";
import { createLookUp } from "../recall/look-up.ts";
import { createRecorder, type RecorderParts } from "../record/recorder.ts";
import type { UnstoredSession } from "../record/unstored.ts";
import { createSessionAnswers } from "../session/answer-in-session.ts";
import { notKeptAcross } from "../session/plan-session.ts";
import { answerTransparently } from "../transparent/answer-transparently.ts";
import { upstreamFor } from "../upstream/upstream-for.ts";
import type { DoorAnswer, DoorWire } from "../wires/door-wire.ts";
import { DOOR_WIRES } from "../wires/find-wire.ts";
import { readGooglePath } from "../wires/google-path.ts";
import { countTokens, sessionOfCount } from "./count-tokens.ts";
import { forward, isCount, mayForward } from "./forward.ts";
import { listModels, oneModel } from "./list-models.ts";
import { planMode } from "./plan-mode.ts";

export interface Door {
  readonly isOpen: boolean;
  /** What a request with this body says; see `BodyReader`. */
  read: BodyReader["read"];
  /** The session whose history is Clew's own; undefined: the client brings all of it. */
  keyOf(call: DoorCall): string | undefined;
  /** A conversation's next request. */
  answer(call: DoorCall, outlet: DoorOutlet): Promise<void>;
  /** What holds no conversation: it goes on as it is, or is not there. */
  pass(visit: DoorVisit & { wire: DoorWire }, outlet: DoorOutlet): Promise<void>;
  /** The models that clients may name, or one of them, in the form of a wire. */
  models(wire: DoorWire, id?: string): DoorAnswer;
  /** Sessions that others started, as their clients say. */
  started(): Promise<StartedSession[]>;
  /** Of a session that was deleted: its client's next request begins one, with all it brings. */
  forget(key: string): void;
  /** Counts an answer that is over. `reason`: why nobody else heard of the request. */
  answered(answer: { wire: DoorWire; status: number; reason?: string | undefined }): void;
  /** What is being stored of replies that are over, or not: by session; none of it is a turn. */
  storing(): ReadonlyMap<string, number>;
  /** What was answered and could not be stored, by session. */
  unstored(): UnstoredSession[];
  /** Resolves when all that was answered is stored. */
  settled(): Promise<void>;
  /** Answers get `graceMs` to end and are broken off then; resolves when they are stored. */
  close(graceMs: number): Promise<void>;
}

export interface DoorOptions extends DoorParts, RecorderParts {
  journals: DoorJournals;
  /** False: another gateway answers clients that bring their whole history. */
  isHere: () => boolean;
  /** Told of each answer that is over. */
  answered(answer: { wire: string; status: number }): void;
}

export function createDoor(given: DoorOptions): Door {
  const { host, log, journals } = given;
  const replies = createRememberedReplies();
  const agentId = doorAgent(host.config);
  const parts = {
    ...given,
    across: createAskAcross({ ...given, replies }),
    ...{ memory: createDoorMemory({ journals, agentId }), recorder: createRecorder(given) },
    lookUp: createLookUp(given.conversations, host.config.door.recallTools),
  };
  const { door } = host.config;
  const follows = (key: string) => given.isHere() && key.startsWith(`agent:${agentId}:`);
  const inSession = createSessionAnswers({ ...parts, follows });
  const upstreamOf = (wire: DoorWire, model: string) => upstreamFor(parts, wire.api, model);
  const running = new Map<Promise<void>, DoorOutlet>();
  const guarded: Guarded = (visit, outlet, work) => {
    const done = guard(visit, outlet, work).finally(() => running.delete(done));
    running.set(done, outlet);
    return done;
  };
  const guard: Guarded = async ({ path, wire }, outlet, work) => {
    try {
      await work();
    } catch (error) {
      if (!isAbort(error) && !isTooDeep(error) && !outlet.gone.aborted)
        log.error(`${path} failed: ${error instanceof Error ? error.message : String(error)}`);
      if (outlet.hasBegun) outlet.breakOff();
      else if (isTooDeep(error)) answerWith(outlet, wire.error(400, TOO_DEEP));
      else answerWith(outlet, wire.error(500, UNEXPECTED));
    }
  };
  // What is kept of what others learn is old the next moment, and nothing is answered by it.
  const startedElsewhere = atMostEvery(ELSEWHERE_MS, async () => {
    const memory = createDoorMemory({ journals, agentId });
    await memory.ready();
    return startedIn(memory);
  });
  return {
    isOpen: door.enabled,
    read: createBodyReader().read,
    keyOf: (call) => (planMode(door.mode, call) === "session" ? inSession.keyOf(call) : undefined),
    answer: (call, outlet) =>
      guarded(call, outlet, async () => {
        if (planMode(door.mode, call) === "session") return inSession.answer(call, outlet);
        const upstream = upstreamOf(call.wire, call.request.model);
        if ("problem" in upstream) {
          logRefusal(log, { ...call, model: call.request.model }, nobody(upstream));
          return answerWith(outlet, call.wire.error(404, upstream.problem));
        }
        const before = upstream.across ? call.body.previous_response_id : undefined;
        if (typeof before === "string") {
          const refused = notKeptAcross(before);
          logRefusal(log, { ...call, model: call.request.model }, refused);
          return answerWith(outlet, refused);
        }
        const { goOnWithout } = inSession;
        return answerTransparently({ ...parts, goOnWithout }, { call, upstream, outlet });
      }),
    pass: (visit, outlet) =>
      guarded(visit, outlet, async () => {
        const model = modelIn(visit);
        const upstream = upstreamOf(visit.wire, model);
        const key = isCount(visit) ? sessionOfCount(visit, host.config) : undefined;
        if (isCount(visit) && (key !== undefined || ("across" in upstream && upstream.across)))
          return answerWith(outlet, await countTokens(parts, visit, key));
        if ("problem" in upstream || !mayForward(visit, upstream)) {
          if ("problem" in upstream) logRefusal(log, { ...visit, model }, nobody(upstream));
          const sentence = `There is nothing at ${visit.path}.`;
          return answerWith(outlet, visit.wire.error(404, sentence));
        }
        await forward(parts, { visit, upstream, outlet });
      }),
    models: (wire, id) => (id === undefined ? listModels(parts, wire) : oneModel(parts, wire, id)),
    async started() {
      if (!given.isHere()) return startedElsewhere();
      await parts.memory.ready();
      return startedIn(parts.memory);
    },
    forget(key) {
      parts.memory.relearn(key, undefined);
      parts.recorder.forget(key);
    },
    answered({ wire: { api }, status, reason }) {
      given.answered({ wire: api, status });
      // How large a body may be is a setting of the gateway's.
      const level = status === 413 ? "warn" : "info";
      if (reason !== undefined)
        log[level](`request at the door refused: ${reason}`, { wire: api, status });
    },
    storing: () => parts.recorder.storing(),
    unstored: () => parts.recorder.unstored(),
    settled: () => parts.recorder.settled(),
    async close(graceMs) {
      const isOver = await Promise.race([
        Promise.all(running.keys()).then(() => true),
        sleep(graceMs, undefined, { ref: false }).then(() => false),
      ]);
      if (!isOver) {
        parts.underWay.endAll();
        inSession.endAll();
        await Promise.race([Promise.all(running.keys()), sleep(END_MS, undefined, { ref: false })]);
        for (const outlet of running.values()) outlet.breakOff();
      }
      await Promise.all(running.keys());
      await parts.recorder.settled();
    },
  };
}

/** Whom to ask is a matter of the settings. */
const nobody = ({ problem }: { problem: string }) => ({
  ...{ status: 404, failure: "CONFIG_INVALID", reason: problem },
});

/** What a reply that is ended may take to tell of it, ms. */
const END_MS = 400;

/** What goes wrong in it is told in the dialect of the wire, and in the log. */
type Guarded = (
  visit: Pick<DoorVisit, "path"> & { wire: DoorWire },
  outlet: DoorOutlet,
  work: () => Promise<void>,
) => Promise<void>;

/** What other gateways learnt is looked at no more often, ms. */
const ELSEWHERE_MS = 10_000;

function atMostEvery<Answer>(ms: number, ask: () => Promise<Answer>): () => Promise<Answer> {
  let at = Number.NEGATIVE_INFINITY;
  let answer: Promise<Answer> | undefined;
  return () => {
    if (answer !== undefined && performance.now() - at < ms) return answer;
    at = performance.now();
    answer = ask();
    answer.catch(() => {
      answer = undefined;
    });
    return answer;
  };
}

const startedIn = ({ known }: DoorMemory): StartedSession[] =>
  [...known.sessions()].flatMap(({ id, parent }) =>
    parent === undefined ? [] : [startedBy(parent, id)],
  );

/** Nobody says when a client's subagent is over. */
const startedBy = (parent: string, key: string): StartedSession => ({
  ...{ key, parent: { key: parent }, label: null, task: "", state: "ended" },
  end: { outcome: "completed", reason: null, notice: "completed", at: 0 },
});

/** What a client sends may be nested as deeply as it likes. */
const isTooDeep = (error: unknown) =>
  error instanceof RangeError && error.message.includes("call stack");
const TOO_DEEP = "The body is nested too deeply to be read.";
const UNEXPECTED = "Something unexpected happened; the log in CLEW_HOME/logs says what.";

/** Of what is no conversation, where it names one. */
function modelIn({ bytes, path }: DoorVisit): string {
  const named = readGooglePath(path)?.model;
  if (named !== undefined || bytes.length === 0) return named ?? "";
  try {
    const body = fromJson(new TextDecoder().decode(bytes)) as { model?: unknown };
    return typeof body.model === "string" ? body.model : "";
  } catch {
    return "";
  }
}

/** By what a request says of itself where its path does not tell the wire. */
export function wireOfVisit({ path, headers }: Pick<DoorVisit, "path" | "headers">): DoorWire {
  const names = new Set(headers.map(([name]) => name.toLowerCase()));
  if (path.startsWith("/v1beta") || names.has("x-goog-api-key") || readGooglePath(path))
    return DOOR_WIRES["google-generative-ai"];
  if (names.has("anthropic-version") || path.startsWith("/v1/messages"))
    return DOOR_WIRES["anthropic-messages"];
  return path.startsWith("/v1/responses")
    ? DOOR_WIRES["openai-responses"]
    : DOOR_WIRES["openai-completions"];
}
