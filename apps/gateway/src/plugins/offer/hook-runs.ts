// Calls the hooks of plugins one after the other, and skips those that fail.

import type { LogPort, PromptAdditions } from "@clew/engine-core";
import { isRecord, within } from "@clew/plugin-sdk/host";
import { bytesOf, describeBytes } from "../../limits/size.ts";
import { messageAndPlace } from "../load/error-place.ts";
import type { RegisteredHook } from "../load/registrations.ts";
import type { RunAs } from "../load/running.ts";
import { readAnswer } from "./read-answer.ts";

/** What one call of a handler may take, ms: as long as the other host lets it, and no longer. */
const HOOK_MS: Readonly<Record<string, number>> = {
  before_prompt_build: 15_000,
  before_agent_start: 15_000,
  agent_end: 30_000,
  before_compaction: 30_000,
  after_compaction: 30_000,
  gateway_stop: 5000,
};
/** A hook that hangs must not hold up a reply for long. */
const OTHER_MS = 10_000;

export interface OwnedHook extends RegisteredHook {
  pluginId: string;
}

/** What one handler came to. */
export type HookOutcome =
  | { pluginId: string; ok: true; given: unknown }
  | { pluginId: string; ok: false; reason: string };

export interface HookRunner {
  has(name: string): boolean;
  /** Tells every handler of `name`; what they return is ignored. */
  emit(name: string, event: object, context?: object): Promise<void>;
  /**
   * Tells every handler, each of a copy of its own, and nobody waits for them. `event` is asked for
   * where somebody wants to know.
   */
  observe(name: string, event: () => object, context: object): void;
  /** Resolves when all who were told so are done, or have been given up. */
  settled(): Promise<void>;
  /** Those of them that are not done, by their plugins. */
  unsettled(): string[];
  /** Takes note of what a handler asked for and no plugin may do. */
  refused(pluginId: string, message: string): void;
  /** Asks one handler after the other, the most important first, until `take` says it is over. */
  ask(
    name: string,
    request: { event: () => object; context: object; signal?: AbortSignal | undefined },
    take: (outcome: HookOutcome) => Promise<boolean> | boolean,
  ): Promise<void>;
  /** The same of handlers that answer at once. */
  askNow(
    name: string,
    request: { event: () => object; context: object },
    take: (outcome: HookOutcome) => void,
  ): void;
  /**
   * What before_prompt_build handlers want added, together, and before_agent_start's, as that one
   * was called before; an abort ends the wait for them. One that gives more text than `limitBytes`
   * adds nothing.
   */
  additions(
    event: object,
    context: object,
    options: { signal?: AbortSignal | undefined; limitBytes: number },
  ): Promise<PromptAdditions>;
}

type Handler = (given: object, about: object) => unknown;

export function createHookRunner({
  hooks,
  log,
  runAs,
  onRefused,
  onFailed = (pluginId, message) => log.warn(`[plugins] ${pluginId}: ${message}`),
}: {
  hooks: () => readonly OwnedHook[];
  log: LogPort;
  runAs: RunAs;
  /** Told of what no plugin may do. Absent: the log is. */
  onRefused?: (pluginId: string, message: string) => void;
  /** Told of hooks that failed. Absent: the log is. */
  onFailed?: (pluginId: string, message: string) => void;
}): HookRunner {
  const observing = new Map<Promise<unknown>, OwnedHook>();
  const handlersOf = (name: string) =>
    hooks()
      .filter((hook) => hook.name === name)
      .toSorted((a, b) => b.priority - a.priority);
  const failed = ({ name, pluginId }: OwnedHook, error: unknown): HookOutcome => {
    const reason = messageAndPlace(error);
    onFailed(pluginId, `hook ${name} failed: ${reason}`);
    return { pluginId, ok: false, reason };
  };
  const call = async (
    hook: OwnedHook,
    event: object,
    context: object,
    signal?: AbortSignal,
  ): Promise<HookOutcome> => {
    const { name, pluginId, handler } = hook;
    const boundMs = HOOK_MS[name] ?? OTHER_MS;
    const onTimeout = () => {
      throw new Error(`not finished within ${boundMs / 1000} s`);
    };
    try {
      const given = await within<unknown>({ boundMs, signal, onTimeout }, () =>
        runAs(pluginId, () => (handler as Handler)(event, context)),
      );
      return { pluginId, ok: true, given: runAs(pluginId, () => readAnswer(given)) };
    } catch (error) {
      signal?.throwIfAborted();
      return failed(hook, error);
    }
  };
  const callNow = (hook: OwnedHook, event: object, context: object): HookOutcome => {
    const { pluginId, handler } = hook;
    try {
      const given = runAs(pluginId, () => readAnswer((handler as Handler)(event, context)));
      return { pluginId, ok: true, given };
    } catch (error) {
      return failed(hook, error);
    }
  };
  return {
    has: (name) => hooks().some((hook) => hook.name === name),
    async emit(name, event, context = {}) {
      for (const hook of handlersOf(name)) await call(hook, event, context);
    },
    observe(name, event, context) {
      const told = handlersOf(name);
      if (told.length === 0) return;
      const seen = event();
      for (const hook of told) {
        const done = call(hook, structuredClone(seen), { ...context }).finally(() =>
          observing.delete(done),
        );
        observing.set(done, hook);
      }
    },
    async settled() {
      while (observing.size > 0) await Promise.allSettled(observing.keys());
    },
    unsettled: () =>
      [...observing.values()].map(({ name, pluginId }) => `hook ${name} of plugin "${pluginId}"`),
    refused: onRefused ?? ((pluginId, message) => log.warn(`[plugins] ${pluginId}: ${message}`)),
    async ask(name, { event, context, signal }, take) {
      for (const hook of handlersOf(name)) {
        const given = structuredClone(event());
        if (await take(await call(hook, given, { ...context }, signal))) return;
      }
    },
    askNow(name, { event, context }, take) {
      for (const hook of handlersOf(name))
        take(callNow(hook, structuredClone(event()), { ...context }));
    },
    async additions(event, context, { signal, limitBytes }) {
      const results: unknown[] = [];
      for (const name of ["before_prompt_build", "before_agent_start"])
        for (const hook of handlersOf(name)) {
          const outcome = await call(hook, event, context, signal);
          const given = outcome.ok ? asAdditions(name, outcome.given) : undefined;
          const bytes = isRecord(given) ? bytesOf(TEXTS.flatMap((key) => textIn(given, key))) : 0;
          if (bytes <= limitBytes) results.push(given);
          else log.warn(tooLong(hook, bytes, limitBytes));
        }
      return mergeAdditions(results);
    },
  };
}

/** The old hook's system prompt is a block to add: real plugins give only their own part in it. */
function asAdditions(name: string, given: unknown): unknown {
  if (name === "before_prompt_build" || !isRecord(given)) return given;
  const { systemPrompt, ...rest } = given;
  const texts = [textIn(given, "appendSystemContext"), textIn({ systemPrompt }, "systemPrompt")];
  const appended = texts.flat().join("\n\n");
  return appended === "" ? rest : { ...rest, appendSystemContext: appended };
}

const TEXTS = [
  "systemPrompt",
  "prependContext",
  "appendContext",
  "prependSystemContext",
  "appendSystemContext",
] as const;

/** Nothing where it is no text, or blank. */
function textIn(given: Record<string, unknown>, key: (typeof TEXTS)[number]): string[] {
  const text = given[key];
  return typeof text === "string" && text.trim() !== "" ? [text] : [];
}

const tooLong = ({ pluginId, name }: OwnedHook, bytes: number, limitBytes: number) =>
  `[plugins] ${pluginId}: hook ${name} gave ${describeBytes(bytes)} of text, and at most ${describeBytes(limitBytes)} are taken (gateway.limits.hookBytes), so nothing of it was added; let the plugin give less, or raise the limit`;

/**
 * Pure. Texts are joined with blank lines, the first system prompt wins, tools must be allowed by
 * everyone who says which.
 */
export function mergeAdditions(results: readonly unknown[]): PromptAdditions {
  const given = results.filter(isRecord);
  const texts = (key: (typeof TEXTS)[number]) => given.flatMap((each) => textIn(each, key));
  const joined = (key: Exclude<(typeof TEXTS)[number], "systemPrompt">) =>
    texts(key).length === 0 ? {} : { [key]: texts(key).join("\n\n") };
  const allowed = given.flatMap(({ toolsAllow }) =>
    Array.isArray(toolsAllow) ? [toolsAllow.map(String)] : [],
  );
  const [systemPrompt] = texts("systemPrompt");
  return {
    ...(systemPrompt !== undefined && { systemPrompt }),
    ...joined("prependContext"),
    ...joined("appendContext"),
    ...joined("prependSystemContext"),
    ...joined("appendSystemContext"),
    ...(allowed.length > 0 && {
      toolsAllow: allowed.reduce((all, names) => all.filter((name) => names.includes(name))),
    }),
  };
}
