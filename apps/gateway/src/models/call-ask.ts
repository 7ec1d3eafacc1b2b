// Decides what the calls of an agent ask of a model, and says which setting decided it.
import type { CallAsk } from "@clew/plugin-sdk/host";
import type { ThinkingSent } from "@clew/providers";
import type { Params, ThinkingLevel } from "../config/params.ts";
import type { Config } from "../config/schema.ts";
import {
  type AskPart,
  type AskRoute,
  compactsFrom,
  foreignTier,
  replyLimit,
  takesAsk,
} from "./asks-taken.ts";
import { howItIsSent } from "./thinking-words.ts";

/** What calls ask, and where each of it was decided, for people. */
export interface AskSettings {
  ask: CallAsk;
  /** "thinking high (/think)", "cache long (agents.defaults.params)", … */
  because: readonly string[];
  /** What is not asked although it is set, and why; in the same words. */
  leftOut: readonly string[];
}

export interface AskRequest {
  agentId: string;
  /** "provider/model". */
  model: string;
  /** The session's own; undefined: the settings decide. */
  level: ThinkingLevel | undefined;
  /** What the model's provider is told of thinking, when a call asks this. */
  sent(ask: CallAsk): ThinkingSent;
  /** False: this model is sent no temperature, whatever is asked. Default: it is. */
  sendsTemperature?(ask: CallAsk): boolean;
  /** Where the calls go. Absent: all that the settings ask is taken to be understood there. */
  route?: AskRoute;
}

interface Layer {
  /** The setting's place. */
  name: string;
  params: Params;
}

/** Pure. The session's own level wins, then the agent, then the model, then the defaults. */
export function planAsk(
  config: Config,
  { agentId, model, level, sent, sendsTemperature = () => true, route }: AskRequest,
): AskSettings {
  const { defaults, list } = config.agents;
  const ofModel = `agents.defaults.models["${model}"].params`;
  const place = list.findIndex(({ id }) => id === agentId);
  const own = list[place];
  const layers: Layer[] = [
    thinking("/think", level),
    { name: `agents.list[${place}].params`, params: own?.params ?? {} },
    thinking(`agents.list[${place}].thinkingDefault`, own?.thinkingDefault),
    {
      name: ofModel,
      params: Object.hasOwn(defaults.models, model) ? (defaults.models[model]?.params ?? {}) : {},
    },
    { name: "agents.defaults.params", params: defaults.params ?? {} },
    thinking("agents.defaults.thinkingDefault", defaults.thinkingDefault),
  ];
  const set = <Key extends keyof Params>(key: Key) => {
    const layer = layers.find(({ params }) => params[key] !== undefined);
    return layer && { value: layer.params[key] as NonNullable<Params[Key]>, from: layer.name };
  };
  const effort = set("thinking");
  const retention = set("cacheRetention");
  const tier = set("serviceTier");
  const temperature = set("temperature");
  const tokens = set("maxTokens");
  const limit = route && replyLimit(route);
  const isTooLong = tokens !== undefined && limit !== undefined && tokens.value > limit;
  const parallel = set("parallelToolCalls");
  const clear = set("clearToolResultsAbove");
  const compact = set("compactAbove");
  // What is set for the model itself is meant for it, whatever is recorded of its provider.
  const foreign =
    tier && route && tier.from !== ofModel ? foreignTier(tier.value, route) : undefined;
  const ask: CallAsk = {
    ...(effort !== undefined &&
      effort.value !== "adaptive" && { reasoning: { effort: effort.value } }),
    ...(retention && { cache: { retention: retention.value } }),
    ...(tier && foreign === undefined && { serviceTier: tier.value }),
    ...(temperature && { temperature: temperature.value }),
    ...(tokens && { maxOutputTokens: isTooLong ? limit : tokens.value }),
    ...(parallel && { parallelToolCalls: parallel.value }),
    ...((clear || compact) && {
      serverContext: {
        ...(clear && { clearToolResultsAbove: clear.value }),
        ...(compact && { compactAbove: compact.value }),
      },
    }),
  };
  const heard = (part: AskPart, what: string, by: Parameters<typeof told>[1]) =>
    route === undefined || by === undefined || takesAsk(part, ask, route) ? told(what, by) : [];
  const leftOut =
    foreign === undefined ? [] : told("service tier", tier).map((text) => `${text}, ${foreign}`);
  return {
    ask,
    leftOut,
    because: [
      ...told("thinking", effort).map((text) =>
        effort === undefined ? text : `${text}${howItIsSent(effort.value, sent(ask))}`,
      ),
      ...heard("cacheRetention", "cache", retention),
      ...(foreign === undefined ? heard("serviceTier", "service tier", tier) : leftOut),
      ...told("temperature", temperature).map((text) =>
        sendsTemperature(ask) ? text : `${text}, which this model is not sent`,
      ),
      ...heard("maxTokens", "tokens of a reply", tokens).map((text) =>
        isTooLong ? `${text}, of which this model is asked for its most, ${limit}` : text,
      ),
      ...heard("parallelToolCalls", "parallel calls", parallel),
      ...heard("clearToolResultsAbove", "tool results cleared by the provider above", clear),
      ...heard("compactAbove", "compaction by the provider above", compact).map((text) => {
        const least = route && compactsFrom(ask, route);
        return least === undefined ? text : `${text}, sent as ${least}, its least`;
      }),
    ],
  };
}

/** Pure. Where another program asks the model, of all that is set it is told how hard to think. */
export function planAskOfProgram(config: Config, request: Omit<AskRequest, "sent">): AskSettings {
  const sent = ({ reasoning }: CallAsk): ThinkingSent =>
    reasoning?.effort === "off" ? { kind: "off" } : { kind: "on" };
  const { ask, because } = planAsk(config, { ...request, sent });
  const isTold = (text: string) => text.startsWith("thinking ");
  return {
    ask: ask.reasoning === undefined ? {} : { reasoning: ask.reasoning },
    because: because.filter(isTold),
    leftOut: because
      .filter((text) => !isTold(text))
      .map((text) => `${text}, which the program that runs the turns is not told`),
  };
}

const thinking = (name: string, level: ThinkingLevel | undefined): Layer => ({
  name,
  params: level === undefined ? {} : { thinking: level },
});

const told = (what: string, set: { value: unknown; from: string } | undefined): string[] =>
  set === undefined ? [] : [`${what} ${set.value} (${set.from})`];
