// What a plugin calls as `api.runtime.subagent`, and whom its calls are made for.
import type {
  PluginLogger,
  PluginSubagents,
  RegistrationMode,
  SubagentRun,
  SubagentRunStatus,
} from "@clew/plugin-sdk/core";
import { z } from "zod";
import { messageOf } from "../invalid.ts";
import { liveScope, type PluginScope } from "./scope.ts";

/** Who calls, and for whom. */
export interface SubagentCaller {
  pluginId: string;
  /** Undefined: for no request, or for one that is over. */
  scope: PluginScope | undefined;
  /** True once the plugin was loaded again, or told to stop. */
  isRetired(): boolean;
}

/** What the gateway does for plugins; each throws a sentence where it refuses. */
export interface SubagentsPort {
  run(caller: SubagentCaller, ask: RunAsk): Promise<SubagentRun>;
  wait(
    caller: SubagentCaller,
    ask: { runId: string; timeoutMs?: number | undefined },
  ): Promise<SubagentRunStatus>;
  messages(
    caller: SubagentCaller,
    ask: { sessionKey: string; limit: number },
  ): Promise<{ messages: unknown[] }>;
  remove(
    caller: SubagentCaller,
    ask: { sessionKey: string; deleteTranscript: boolean },
  ): Promise<void>;
  /** Ends the runs of plugins that were loaded again or stopped, but for those in a request. */
  endRetired(): void;
}

const text = z.string().regex(/\S/, "it is blank");
/** Plugins write null for what they do not know. */
const optional = <Schema extends z.ZodType>(schema: Schema) =>
  schema.nullish().transform((value) => value ?? undefined);
const flag = optional(z.boolean()).transform((value) => value ?? false);

const RunSchema = z.object({
  sessionKey: text,
  message: text,
  provider: optional(z.string()),
  model: optional(z.string()),
  extraSystemPrompt: optional(z.string()),
  deliver: flag,
  // One that is blank names no run, as none does.
  idempotencyKey: optional(z.string().max(256)).transform((key) => key?.trim() || undefined),
  lightContext: flag,
  disableTools: flag,
  // A folder of its own cannot be had, and one that is not its own is not what was asked for.
  cwd: optional(z.never("a session of a plugin works in its agent's workspace")),
});
/** What a plugin asks of a run. */
export type RunAsk = Omit<z.infer<typeof RunSchema>, "cwd">;

const WaitSchema = z.object({ runId: text, timeoutMs: optional(z.number().min(0)) });
const MessagesSchema = z.object({
  sessionKey: text,
  limit: optional(z.number()).transform((limit) =>
    Number.isNaN(limit) ? 200 : Math.min(1000, Math.max(1, Math.floor(limit ?? 200))),
  ),
});
const DeleteSchema = z.object({
  sessionKey: text,
  deleteTranscript: optional(z.boolean()).transform((value) => value ?? true),
});

export interface PluginSubagentsRequest extends Omit<SubagentCaller, "scope"> {
  mode: RegistrationMode;
  /** Undefined: no gateway runs here, or not yet. */
  port: () => SubagentsPort | undefined;
  logger: Pick<PluginLogger, "warn">;
}

export function createPluginSubagents(
  request: PluginSubagentsRequest,
): PluginSubagents & { getSession: PluginSubagents["getSessionMessages"] } {
  const { mode, pluginId, isRetired, port, logger } = request;
  const call =
    <Ask, Result>(
      asked: string,
      schema: z.ZodType<Ask>,
      { method, run }: { method: string; run: Verb<Ask, Result> },
    ) =>
    async (params: unknown): Promise<Result> => {
      const scope = liveScope();
      try {
        const found = mode === "full" ? port() : undefined;
        if (found === undefined) throw new Error(notAvailable(mode, method));
        const parsed = schema.safeParse(params ?? {});
        if (!parsed.success) throw new Error(wrong(pluginId, asked, parsed.error));
        return await run(found, { pluginId, scope, isRetired }, parsed.data);
      } catch (error) {
        const reason = messageOf(error);
        logger.warn(`${asked} was refused: ${reason}`);
        scope?.refused?.({ plugin: pluginId, asked, reason });
        throw error;
      }
    };
  const getSessionMessages = call("subagent.getSessionMessages", MessagesSchema, {
    method: "sessions.get",
    run: (found, caller, ask) => found.messages(caller, ask),
  });
  return {
    run: call("subagent.run", RunSchema, {
      method: "agent",
      run: (found, caller, ask) => found.run(caller, ask),
    }),
    waitForRun: call("subagent.waitForRun", WaitSchema, {
      method: "agent.wait",
      run: (found, caller, ask) => found.wait(caller, ask),
    }),
    getSessionMessages,
    getSession: getSessionMessages,
    deleteSession: call("subagent.deleteSession", DeleteSchema, {
      method: "sessions.delete",
      run: (found, caller, ask) => found.remove(caller, ask),
    }),
  };
}

type Verb<Ask, Result> = (port: SubagentsPort, caller: SubagentCaller, ask: Ask) => Promise<Result>;

/** Plugins know these two by their words. */
const notAvailable = (mode: RegistrationMode, method: string): string =>
  mode === "full"
    ? `Plugin subagent dispatch requires a gateway request scope (method: ${method}). No scope set and no fallback context available.`
    : "Plugin runtime subagent methods are only available during a gateway request.";

function wrong(pluginId: string, asked: string, { issues }: z.ZodError): string {
  const problems = issues.map(({ path, message }) => `${path.join(".")}: ${message}`).join("; ");
  return `Plugin "${pluginId}" called ${asked} with what it does not take: ${problems}.`;
}
