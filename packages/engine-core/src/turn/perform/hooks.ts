// Asks plugins for additions to a prompt and tells them of compactions.
import { describeError } from "../../engine/quarantine.ts";
import type { HookPort } from "../../ports.ts";
import type { Ask } from "../effects.ts";
import type { Answer } from "../facts.ts";
import type { World } from "./world.ts";

/** A throw ends the turn: a prompt without what a plugin adds is another prompt. */
export async function askHooks(
  { request }: World,
  { prompt, messages }: Extract<Ask, { do: "ask-hooks" }>,
): Promise<Extract<Answer, { type: "hooked" }>> {
  return {
    type: "hooked",
    additions: (await request.beforePromptBuild?.({ prompt, messages })) ?? {},
  };
}

export async function tellHook<Name extends keyof HookPort>(
  { ports }: World,
  name: Name,
  event: Parameters<NonNullable<HookPort[Name]>>[0],
): Promise<Extract<Answer, { type: "told" }>> {
  try {
    const hook = ports.hooks?.[name] as ((given: typeof event) => Promise<void>) | undefined;
    await hook?.call(ports.hooks, event);
  } catch (error) {
    ports.log.warn(`${name} hook failed: ${describeError(error)}`);
  }
  return { type: "told" };
}
