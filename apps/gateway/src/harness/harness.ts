// What the gateway asks of a program that runs agents' turns.
import type { ExecutionHost, ExecutionPort, HostSession, LogPort } from "@clew/engine-core";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import type { ModelError } from "@clew/plugin-sdk/host";
import { classifyError, type Failure } from "@clew/providers";
import type { Approvals } from "../approvals/queue.ts";
import type { ResolvedModel } from "../models/resolve.ts";
import type { Relay, RelayTarget } from "./relay.ts";

/** A provider that a program asks, by way of the gateway. */
export interface AskedProvider extends Pick<RelayTarget, "baseUrl" | "signInHeaders"> {
  name: string;
  /** A call that failed there, as it is told wherever the gateway asks by itself. */
  describe(failure: Failure): ModelError;
}

/** One turn's circumstances. */
export interface HarnessRequest {
  session: HostSession;
  /** Where it works: the agent's folder, or the one that an editor has open; it exists. */
  workspace: string;
  /** Nothing is to be changed or run, as a person chose in an editor. */
  readOnly: boolean;
  /** Who should answer. */
  model: ResolvedModel;
  /** By which one signs in to its server. */
  signInHeaders: () => Promise<Record<string, string>>;
  /** Where people are asked. Absent: nobody is, and the answer is no. */
  approvals?: Approvals | undefined;
}

/** What was found out about a program without running a turn. */
export type HarnessCheck =
  | { ok: true; version: string; command: string }
  | { ok: false; code: "HARNESS_UNAVAILABLE"; message: string };

/** One program, for all agents whose settings name it. */
export interface Harness {
  /** As `agents.list[].harness` names it. */
  readonly id: string;
  /** As engines are told of it. */
  readonly host: ExecutionHost;
  /** The wire by which it asks its models. */
  readonly api: string;
  /** Whether the model is offered the gateway's tools. */
  readonly takesTools: boolean;
  /** What runs the turns of one session. */
  port(request: HarnessRequest): ExecutionPort;
  /** Whether it is there and of a version that is supported. */
  check(): Promise<HarnessCheck>;
  /** What it holds of a session, for people; undefined: nothing. */
  describe(session: Pick<HostSession, "agentId" | "sessionKey">): Promise<string | undefined>;
  /**
   * What it holds is not what the session is any more, as after a turn was taken back: its next
   * turn begins without that. `why` is half a sentence.
   */
  letGo(session: Pick<HostSession, "agentId" | "sessionKey">, why: string): Promise<void>;
  /** A session is gone, and what the program holds of it goes too. */
  forget(session: Pick<HostSession, "agentId" | "sessionKey">): Promise<void>;
  /** Ends every process that it began. */
  close(): Promise<void>;
}

/** Pure. Why it cannot ask that model, as a sentence; undefined: it can. */
export function whyNotAsked(
  { host, api }: Pick<Harness, "host" | "api">,
  { name, model, endpoint }: ResolvedModel,
): string | undefined {
  if (model.api === api && endpoint.baseUrl !== "") return undefined;
  return `${host.label} asks its models by the api "${api}", and ${name} speaks "${model.api}": choose another model for the agent, or set its provider's api.`;
}

/** Throws CONFIG_INVALID for a model that the program cannot ask, and where a key is missing. */
export async function providerOf(
  harness: Pick<Harness, "host" | "api">,
  { model, signInHeaders }: Pick<HarnessRequest, "model" | "signInHeaders">,
): Promise<AskedProvider> {
  const why = whyNotAsked(harness, model);
  if (why !== undefined) throw new ContextEngineError("CONFIG_INVALID", why);
  await signInHeaders();
  const baseUrl = model.endpoint.baseUrl.replace(/\/+$/, "");
  const { provider, api } = model.model;
  const origin = { provider, api, endpoint: model.endpoint };
  return {
    ...{ name: provider, baseUrl, signInHeaders },
    describe: (failure) => classifyError(failure, origin),
  };
}

/** Pure. What the provider said of the call is worth more than the program's words for it. */
export function toldBy(error: ModelError, refusal: ModelError | null): ModelError {
  if (refusal === null) return error;
  return error.kind === "overflow" ? ({ ...refusal, kind: "overflow" } as ModelError) : refusal;
}

export interface HarnessOptions {
  /** CLEW_HOME. */
  home: string;
  log: LogPort;
  /** What programs may be given of the gateway's environment. */
  env: NodeJS.ProcessEnv;
  /** By which they ask their models. */
  relay: Relay;
}

/** What `/status` tells of the program that runs a session's turns. */
export interface HarnessFacts {
  id: string;
  label: string;
  /** What an engine may require and it cannot do. */
  cannot: readonly string[];
  takesTools: boolean;
  /** What it holds of the session, for people; null = nothing. */
  holds: string | null;
}
