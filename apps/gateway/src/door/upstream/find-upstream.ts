// Decides which model of which server a client's request is for.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { findProvider } from "@clew/plugin-sdk/host";
import type { UpstreamConfig } from "../../config/door.ts";
import type { Config } from "../../config/schema.ts";
import type { ResolvedModel } from "../../models/resolve.ts";
import type { DoorApi } from "../wires/door-wire.ts";

export interface Upstream {
  /** The model that is asked. */
  resolved: ResolvedModel;
  /** True: by another wire than the client's, its own. */
  across: boolean;
  settings: UpstreamConfig;
}

export interface UpstreamAsked {
  api: DoorApi;
  /** As the client calls it; "" when it names none. */
  model: string;
  config: Config;
  /** "provider/model" of the agent that is asked, or whose sessions the clients' are. */
  agentModel: string;
  /** True: the client names an agent in place of a model, so the agent's model answers. */
  asksAgent: boolean;
  /**
   * "client": by the key of who asks. Throws CONFIG_INVALID for a name that means nothing, or a
   * model that cannot be signed in to.
   */
  named: (name: string, key?: "client") => ResolvedModel;
}

/** Where a wire is spoken by whoever made it. */
export const MAKERS: Readonly<Record<DoorApi, string>> = {
  "openai-completions": "openai",
  "openai-responses": "openai",
  "anthropic-messages": "anthropic",
  "google-generative-ai": "google",
};

export const UNSET: UpstreamConfig = { models: {} };

/** One sentence says why there is none. */
export function findUpstream(asked: UpstreamAsked): Upstream | { problem: string } {
  const { api, config } = asked;
  const settings = config.door.upstreams[api] ?? UNSET;
  return settings.key === "client"
    ? findWith({ ...asked, named: bySigningIn(asked) }, settings)
    : findWith(asked, settings);
}

/** A key of the client's is for its own wire: another server is asked by the gateway's. */
function bySigningIn({ api, named }: UpstreamAsked): UpstreamAsked["named"] {
  return (name) => {
    const theirs = named(name, "client");
    return speaks(theirs, api) ? theirs : named(name);
  };
}

function findWith(asked: UpstreamAsked, settings: UpstreamConfig): Upstream | { problem: string } {
  const { api } = asked;
  const elsewhere = modelElsewhere(asked, settings) ?? agentsModel(asked);
  if (elsewhere !== undefined) return placed(elsewhere, asked.api, settings);
  const providers = settings.provider === undefined ? usualProviders(asked) : [settings.provider];
  let problem: string | undefined;
  for (const provider of providers) {
    const found = modelAt(asked, settings, provider);
    if ("problem" in found) problem ??= found.problem;
    else if (settings.provider !== undefined || speaks(found, api))
      return placed(found, api, settings);
  }
  return {
    problem:
      problem ??
      `No server of models.providers speaks ${api}; name one in door.upstreams.${api}.provider.`,
  };
}

/** A provider that does not speak the client's wire is asked by its own. */
function placed(resolved: ResolvedModel, api: DoorApi, settings: UpstreamConfig): Upstream {
  return speaks(resolved, api)
    ? { resolved: { ...resolved, model: { ...resolved.model, api } }, across: false, settings }
    : { resolved, across: true, settings };
}

/** A client may call its model "constructor". */
const renamed = (models: UpstreamConfig["models"], model: string): string | undefined =>
  Object.hasOwn(models, model) ? models[model] : undefined;

/** What stands for the client's name with its provider, "provider/model". */
function modelElsewhere(
  { model, named }: UpstreamAsked,
  { models }: UpstreamConfig,
): ResolvedModel | undefined {
  const name = renamed(models, model);
  return name?.includes("/") === true ? known(name, named) : undefined;
}

/** Whichever wire it speaks, the offline one included. */
const agentsModel = ({ asksAgent, agentModel, named }: UpstreamAsked): ResolvedModel | undefined =>
  asksAgent ? known(agentModel, named) : undefined;

/** Undefined: the name means nothing. */
function known(name: string, named: UpstreamAsked["named"]): ResolvedModel | undefined {
  try {
    return named(name);
  } catch (error) {
    if (ContextEngineError.is(error, "CONFIG_INVALID")) return undefined;
    throw error;
  }
}

/** The default model's, then those of the settings, then the maker's. */
function usualProviders({ api, config, agentModel }: UpstreamAsked): string[] {
  const [own = ""] = agentModel.split("/");
  const configured = Object.keys(config.models.providers);
  return [...new Set([...(own === "offline" ? [] : [own]), ...configured, MAKERS[api]])];
}

/**
 * A provider with several wires speaks them at one address; one that only has the name of a known
 * provider, and a wire of its own, does not.
 */
function speaks({ model }: ResolvedModel, api: DoorApi): boolean {
  const known: readonly string[] = findProvider(model.provider)?.apis ?? [];
  return model.api === api || (known.includes(model.api) && known.includes(api));
}

function modelAt(
  { model, config, agentModel, named }: UpstreamAsked,
  settings: UpstreamConfig,
  provider: string,
): ResolvedModel | { problem: string } {
  const wanted = renamed(settings.models, model) ?? model;
  const prefix = `${provider}/`;
  const names = [
    ...(wanted === ""
      ? []
      : [wanted, ...(wanted.startsWith(prefix) ? [wanted.slice(prefix.length)] : [])]),
    ...(settings.model === undefined ? [] : [settings.model]),
    ...(agentModel.startsWith(prefix) ? [agentModel.slice(prefix.length)] : []),
    ...(config.models.providers[provider]?.models ?? []).map(({ id }) => id),
  ];
  let problem: string | undefined;
  for (const name of names) {
    try {
      return named(prefix + name);
    } catch (error) {
      if (!ContextEngineError.is(error, "CONFIG_INVALID")) throw error;
      problem ??= error.message;
    }
  }
  return { problem: problem ?? `The request names no model, and door.upstreams says none.` };
}
