// Counts what model calls cost, and asks no model beyond a cap.
import { randomUUID } from "node:crypto";
import type { LogPort, ModelPort, SideCallReport } from "@clew/engine-core";
import {
  type AgentMessage,
  type AssistantMessage,
  ContextEngineError,
  type Usage,
} from "@clew/plugin-sdk/core";
import {
  fixedTokensOf,
  type ModelCall,
  type ModelError,
  type StreamEvent,
  ZERO_USAGE,
} from "@clew/plugin-sdk/host";
import { estimateMessage } from "@clew/plugin-sdk/tokens";
import type { CostCaps } from "../config/cost-caps.ts";
import { type CostTotals, totalsAlone } from "./all-totals.ts";
import { asSideCost, type Cost, costOf, isFree, NO_COST } from "./cost.ts";
import type { CostLedger } from "./ledger.ts";
import { type CallLine, type DeletedLine, dayOf, type Purpose, type RenewedLine } from "./line.ts";
import { type CapVerdict, capStates, describeNear, describeStop, planCaps } from "./plan-caps.ts";
import type { Prices } from "./prices.ts";
import { nothingSpent, type SessionSpent } from "./totals.ts";
import type { Waste } from "./waste.ts";

/** Whose calls are counted. */
export interface CostSubject {
  agentId: string;
  sessionKey: string;
  /** Registered id when a call ends; null = none has to do with it. */
  readonly engine: string | null;
  /** Who asks; null = the host. */
  plugin: string | null;
}

export interface MeteredPort {
  /** What its calls are for. */
  for: Purpose;
  /** Told of side calls. Absent: nobody is. */
  tell?: ((call: Omit<SideCallReport, "afterCalls">) => void) | undefined;
  /** Told what somebody who waits should know. Absent: nobody waits. */
  notice?: ((text: string) => void) | undefined;
}

export interface Costs {
  /** The same port, counted. A call beyond a cap throws COST_CAP_REACHED, or fails as "refused". */
  meter(port: ModelPort, subject: CostSubject, about: MeteredPort): ModelPort;
  /** Why a call beyond a cap may not be made, in one sentence; undefined: it may. */
  mayAsk(subject: CostSubject): Promise<string | undefined>;
  /** The same without a warning of a cap that comes near, which whoever asks next gives. */
  stopOf(subject: Pick<CostSubject, "agentId" | "sessionKey">): Promise<string | undefined>;
  /**
   * Writes down that a call goes out which is made by no port; its id, by which its end is to be
   * counted, or not known.
   */
  begin(subject: CostSubject, model: string): Promise<string>;
  /**
   * Writes down a call that replies, which was made by no port; what it was estimated to come to,
   * if it had to be. `id`: of what told that it began. Absent: nothing did.
   */
  count(subject: CostSubject, ended: EndedCall, id?: string): Promise<Usage | null>;
  /** Nobody will tell how the call of that id ended. */
  lose(id: string): void;
  /** Writes down what was paid for nothing. */
  noteWaste(subject: CostSubject, waste: readonly Waste[]): Promise<void>;
  /** A session began anew under its name. */
  renewed(session: string, archivedAs: string | null): Promise<void>;
  /** A session is gone: what it cost counts for its days and agents alone. */
  deleted(session: string): Promise<void>;
  /** Ids of calls that go on. */
  underWay(): ReadonlySet<string>;
  /** Of a session, with all that belongs to the one that nobody started. */
  spentIn(sessionKey: string): Promise<SessionSpent>;
  /** A session was opened here: others may have spent in it until then. */
  opened(sessionKey: string): void;
  /** The caps that are set, as they stand for a session of an agent. */
  caps(asked: { agentId: string; sessionKey: string }): Promise<ReturnType<typeof capStates>>;
  close(): Promise<void>;
}

export interface CostsOptions {
  ledger: CostLedger;
  /** What caps and sums go by. Absent: what the ledger says. */
  totals?: CostTotals;
  /** Brings what is written down to where others read it. Absent: there is no other one. */
  share?: (() => Promise<void>) | undefined;
  log: LogPort;
  caps: CostCaps;
  /** As the settings say now; asked before each call. */
  capsNow: () => Promise<CostCaps>;
  /** The session that nobody started, from which one comes. */
  rootOf: (sessionKey: string) => string;
  /** Of "provider/model"; null = not known. Absent: of none, and calls that break off cost 0. */
  pricesOf?: (model: string) => Prices | null;
  now?: () => number;
}

export function createCosts(options: CostsOptions): Costs {
  const { ledger, log, rootOf, capsNow, pricesOf = () => null, now = Date.now } = options;
  const { totals: all = totalsAlone(ledger), share } = options;
  const place = { isOneOfMany: options.totals !== undefined };
  let { caps } = options;
  /** Models whose prices nobody knows, of which it was said. */
  const blind = new Set<string>();
  /** Calls that go on, by id with the session that nobody started. */
  const underWay = new Map<string, string>();
  const at = () => new Date(now()).toISOString();
  const who = ({ agentId, sessionKey, engine }: CostSubject) => ({
    ...{ v: 1 as const, at: at(), agent: agentId, session: sessionKey },
    ...{ root: rootOf(sessionKey), engine },
  });
  const asked = ({ agentId, sessionKey }: Pick<CostSubject, "agentId" | "sessionKey">) => ({
    ...{ root: rootOf(sessionKey), agent: agentId, day: dayOf(now()) },
  });
  const verdictOf = async (subject: Pick<CostSubject, "agentId" | "sessionKey">) => {
    const about = { root: rootOf(subject.sessionKey), isForCap: true };
    const verdict = planCaps(caps, await all.totals(about), asked(subject));
    // A session that began anew a moment ago, at another gateway, is not to be refused.
    return verdict.stop === null
      ? verdict
      : planCaps(caps, await all.totals({ ...about, isNow: true }), asked(subject));
  };
  /** Others are told at once: any of them may be asked next in the session that begins. */
  const tellAnew = async (line: RenewedLine | DeletedLine) => {
    await ledger.append(line);
    await share?.();
  };
  /** Settings that cannot be read leave what they were. */
  const readCaps = async () => {
    caps = await capsNow().catch(() => caps);
  };
  /** Undefined: the call may be made. */
  const refusalOf = async (
    subject: CostSubject,
    notice: MeteredPort["notice"],
  ): Promise<string | undefined> => {
    await readCaps();
    if (!isCapped(caps)) return undefined;
    const verdict = await verdictOf(subject);
    if (verdict.stop !== null) {
      const text = describeStop(verdict.stop, place);
      log.warn(text, { sessionKey: subject.sessionKey });
      return text;
    }
    await warnOf(verdict, subject, notice);
    return undefined;
  };
  const warnOf = async (
    { near }: CapVerdict,
    { sessionKey }: CostSubject,
    notice: MeteredPort["notice"],
  ) => {
    for (const state of near) {
      await ledger.append({ kind: "warned", v: 1, at: at(), cap: state.name });
      const text = describeNear(state);
      log.warn(text, { sessionKey });
      notice?.(text);
    }
  };
  /** Stands in the file before the request leaves, so that nothing is paid without a trace. */
  const begin = async (subject: CostSubject, model: string): Promise<string> => {
    const id = randomUUID();
    const line = { ...who(subject), model, id };
    underWay.set(id, line.root);
    await ledger.append({ kind: "begun", ...line });
    return id;
  };
  const count = async (subject: CostSubject, about: MeteredPort, ended: EndedCall, id?: string) => {
    const { model, usage, durationMs } = ended;
    const failure = ended.failure?.kind ?? null;
    const { for: purpose } = about;
    const isReply = purpose === "reply";
    const estimate = estimateOf(ended);
    const cost = estimate === null ? costOfEnded(ended) : costOf(estimate, pricesOf(model));
    const estimated = estimate === null || cost === null ? estimate : withPaid(estimate, cost);
    const { input = 0, cacheRead = 0, cacheWrite = 0, output = 0 } = usage ?? estimated ?? {};
    const line: CallLine = {
      ...{ kind: "call", ...who(subject), model, for: purpose, plugin: subject.plugin },
      ...(id !== undefined && { id }),
      ...{ input, cacheRead, cacheWrite, output, failure },
      ...(estimated !== null && { isEstimated: true }),
      cost: cost === null || isReply ? cost : asSideCost(cost),
    };
    if (!isReply)
      about.tell?.({
        ...{ for: purpose, model, durationMs, usage: usage ?? null },
        ...(subject.plugin !== null && { plugin: subject.plugin }),
        ...(estimated !== null && { estimated }),
        ...(failure !== null && { failure }),
        ...(ended.failure?.unsent && { unsent: true }),
      });
    if (cost === null && (usage ?? estimate) != null && isCapped(caps) && !blind.has(model)) {
      blind.add(model);
      const text = `The cost caps do not count ${model}, as its prices are not known; the settings of its server can name them (models[].cost).`;
      log.warn(text);
      about.notice?.(text);
    }
    await ledger.append(line);
    if (id !== undefined) underWay.delete(id);
    // The call that comes near is the one to be told of it: the next one may be refused.
    if (isCapped(caps)) await warnOf(await verdictOf(subject), subject, about.notice);
    return estimated;
  };
  /** The call, of which each try is counted when it ends, before the next is made. */
  const countTries = async (
    call: ModelCall,
    subject: CostSubject,
    about: MeteredPort,
  ): Promise<CountedTries> => {
    let id = await begin(subject, nameOf(call));
    let began = performance.now();
    /** The last try, once it is known to be the last and was counted. */
    let last: { estimated: Usage | null } | undefined;
    const end: CountedTries["end"] = async (arrived, failure) => {
      if (last !== undefined) return last.estimated;
      const durationMs = performance.now() - began;
      const { usage } = arrived;
      const ended = { model: nameOf(call), usage, seen: { call, arrived }, failure, durationMs };
      return count(subject, about, ended, id);
    };
    const onRetry: ModelCall["onRetry"] = async (retry) => {
      // A try that was refused is only told by the report of its turn: nobody bills it.
      const isBilled = !isFree(retry.error);
      const estimated = isBilled ? await end(NOTHING_ARRIVED, retry.error) : null;
      const whyNot =
        (await refusalOf(subject, about.notice)) ??
        (await call.onRetry?.({ ...retry, ...(estimated !== null && { estimated }) }));
      if (whyNot !== undefined && isBilled) last = { estimated };
      else if (isBilled) id = await begin(subject, nameOf(call));
      began = performance.now();
      return whyNot;
    };
    return { call: { ...call, onRetry }, end };
  };
  return {
    meter(port, subject, about) {
      const { resolve } = port;
      return {
        ...(resolve !== undefined && {
          resolve: (reference: string) => resolve.call(port, reference),
        }),
        async *stream(call) {
          const refusal = await refusalOf(subject, about.notice);
          if (refusal !== undefined) throw new ContextEngineError("COST_CAP_REACHED", refusal);
          const tries = await countTries(call, subject, about);
          yield* countedStream(port, tries.call, tries.end);
        },
        async complete(call) {
          const refusal = await refusalOf(subject, about.notice);
          if (refusal !== undefined) return refused(refusal);
          const tries = await countTries(call, subject, about);
          const result = await port.complete(tries.call).catch(async (error: unknown) => {
            await tries.end(NOTHING_ARRIVED, { kind: "aborted" });
            throw error;
          });
          const arrived = result.ok ? result.message : result.partial;
          await tries.end(arrived, result.ok ? null : result.error);
          return result;
        },
      };
    },
    async stopOf(subject) {
      await readCaps();
      if (!isCapped(caps)) return undefined;
      const { stop } = await verdictOf(subject);
      return stop === null ? undefined : describeStop(stop, place);
    },
    mayAsk: (subject) => refusalOf(subject, undefined),
    begin,
    count: (subject, ended, id) => count(subject, { for: "reply" }, ended, id),
    lose: (id) => void underWay.delete(id),
    async noteWaste(subject, waste) {
      for (const each of waste) await ledger.append({ kind: "waste", ...who(subject), ...each });
    },
    renewed: (session, archivedAs) =>
      tellAnew({ kind: "renewed", v: 1, at: at(), session, archivedAs }),
    async deleted(session) {
      if (await all.mayHaveSpent(session))
        await tellAnew({ kind: "deleted", v: 1, at: at(), session });
    },
    underWay: () => new Set(underWay.keys()),
    async spentIn(sessionKey) {
      const root = rootOf(sessionKey);
      const spent = (await all.totals({ root, isForCap: false })).sessions[root] ?? nothingSpent();
      const goOn = [...underWay.values()].filter((each) => each === root).length;
      return { ...spent, unended: Math.max(0, spent.unended - goOn) };
    },
    async caps(subject) {
      await readCaps();
      if (!isCapped(caps)) return [];
      const totals = await all.totals({ root: rootOf(subject.sessionKey), isForCap: true });
      return capStates(caps, totals, asked(subject));
    },
    opened: (sessionKey) => all.opened(rootOf(sessionKey)),
    close: () => ledger.close(),
  };
}

/** A call that was made, and what came of it. */
export interface EndedCall {
  model: string;
  usage: Usage | undefined;
  /** What was asked, and what of an answer had arrived. Absent: nobody can estimate it. */
  seen?: { arrived: AssistantMessage } & ({ call: ModelCall } | { promptTokens: number });
  failure: Pick<ModelError, "kind" | "unsent"> | null;
  durationMs: number;
}

interface CountedTries {
  /** To be made instead of the one that was asked for. */
  call: ModelCall;
  /** Counts the last try, unless it was; what it was estimated to come to, if it had to be. */
  end(arrived: AssistantMessage, failure: EndedCall["failure"]): Promise<Usage | null>;
}

const NOTHING_ARRIVED: AssistantMessage = { role: "assistant", content: [], stopReason: "error" };

const isCapped = ({ sessionDollars, agentDayDollars, dayDollars }: CostCaps): boolean =>
  sessionDollars !== undefined || agentDayDollars !== undefined || dayDollars !== undefined;

const nameOf = ({ model }: Pick<ModelCall, "model">) => `${model.provider}/${model.id}`;

/** Also a call that nobody listens to any more was made. */
async function* countedStream(
  port: ModelPort,
  call: ModelCall,
  count: CountedTries["end"],
): AsyncGenerator<StreamEvent> {
  let isCounted = false;
  let text = "";
  const end: typeof count = (arrived, failure) => {
    isCounted = true;
    return count(arrived, failure);
  };
  try {
    for await (const event of port.stream(call)) {
      if (event.type === "done" || event.type === "error") {
        const estimated = await (event.type === "done"
          ? end(event.message, null)
          : end(event.partial, event.error));
        yield estimated === null ? event : { ...event, estimated };
        continue;
      }
      if (event.type === "text") text += event.delta;
      yield event;
    }
  } finally {
    if (!isCounted)
      await end(
        { role: "assistant", content: [{ type: "text", text }], stopReason: "error" },
        { kind: "aborted" },
      );
  }
}

/**
 * Pure. What a call came to whose provider did not say so: it reads the request before it answers,
 * and bills it whoever listens. Null: it said what it counted, or bills no such call.
 */
function estimateOf({ usage, failure, seen }: EndedCall): Usage | null {
  if (usage !== undefined || seen === undefined) return null;
  if (failure !== null && isFree(failure)) return null;
  const { arrived } = seen;
  const estimated = (messages: readonly AgentMessage[]) =>
    messages.reduce((sum, message) => sum + estimateMessage(message).estimate, 0);
  const asked = ({ systemPrompt, tools, messages }: ModelCall) =>
    fixedTokensOf([{ text: systemPrompt }], tools) + estimated(messages);
  const input = Math.ceil("call" in seen ? asked(seen.call) : seen.promptTokens);
  const output = Math.ceil(estimated([arrived]));
  return { ...ZERO_USAGE, input, output, totalTokens: input + output };
}

/** As it is kept with the tokens of a reply. */
function withPaid(usage: Usage, { summariser: _none, ...cost }: Cost): Usage {
  return { ...usage, cost };
}

function costOfEnded({ usage, failure }: EndedCall): Cost | null {
  if (usage === undefined) return failure !== null && isFree(failure) ? NO_COST : null;
  return usage.cost === undefined ? null : { ...usage.cost, summariser: 0 };
}

/** Whoever asked goes on without an answer, as after any refusal. */
function refused(message: string): Awaited<ReturnType<ModelPort["complete"]>> {
  return {
    ok: false,
    error: { kind: "refused", message },
    partial: { role: "assistant", content: [], stopReason: "error", errorMessage: message },
  };
}
