// Calls the hooks of plugins one after the other, and skips those that fail.
import type { LogPort, PromptAdditions } from "@clew/engine-core";
import { isRecord, within } from "@clew/plugin-sdk/host";
import { bytesOf, describeBytes } from "../../limits/size.ts";
import { messageOf } from "../invalid.ts";
import type { RegisteredHook } from "../load/registrations.ts";
import type { RunAs } from "../load/running.ts";

/** A hook that hangs must not hold up a reply for long. */
const HOOK_MS = 10_000;

export interface OwnedHook extends RegisteredHook {
  pluginId: string;
}

export interface HookRunner {
  has(name: string): boolean;
  /** Tells every handler of `name`; what they return is ignored. */
  emit(name: string, event: object, context?: object): Promise<void>;
  /**
   * What before_prompt_build handlers want added, together; an abort ends the wait for them. One
   * that gives more text than `limitBytes` adds nothing.
   */
  additions(
    event: object,
    context: object,
    options: { signal?: AbortSignal | undefined; limitBytes: number },
  ): Promise<PromptAdditions>;
}

export function createHookRunner({
  hooks,
  log,
  runAs,
}: {
  hooks: () => readonly OwnedHook[];
  log: LogPort;
  runAs: RunAs;
}): HookRunner {
  const handlersOf = (name: string) =>
    hooks()
      .filter((hook) => hook.name === name)
      .toSorted((a, b) => b.priority - a.priority);
  const call = async (
    { name, pluginId, handler }: OwnedHook,
    event: object,
    context: object,
    signal?: AbortSignal,
  ): Promise<unknown> => {
    const onTimeout = () => {
      throw new Error(`not finished within ${HOOK_MS / 1000} s`);
    };
    try {
      return await within<unknown>({ boundMs: HOOK_MS, signal, onTimeout }, () =>
        runAs(pluginId, () =>
          (handler as (given: object, about: object) => unknown)(event, context),
        ),
      );
    } catch (error) {
      signal?.throwIfAborted();
      log.warn(`[plugins] ${pluginId}: hook ${name} failed: ${messageOf(error)}`);
      return undefined;
    }
  };
  return {
    has: (name) => hooks().some((hook) => hook.name === name),
    async emit(name, event, context = {}) {
      for (const hook of handlersOf(name)) await call(hook, event, context);
    },
    async additions(event, context, { signal, limitBytes }) {
      const results: unknown[] = [];
      for (const hook of handlersOf("before_prompt_build")) {
        const given = await call(hook, event, context, signal);
        const bytes = isRecord(given) ? bytesOf(TEXTS.flatMap((key) => textIn(given, key))) : 0;
        if (bytes <= limitBytes) results.push(given);
        else log.warn(tooLong(hook, bytes, limitBytes));
      }
      return mergeAdditions(results);
    },
  };
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
