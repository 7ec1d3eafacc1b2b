// Builds the memory part of the system prompt that an engine adds.

/** What a memory section may depend on; `assemble` is given the first two. */
export interface MemoryPromptParams {
  /** Names of the tools the model is offered in this run. */
  availableTools: Set<string>;
  /** How memory shall cite its sources. Absent: the section decides. */
  citationsMode?: "auto" | "on" | "off";
  /** Whose memory. Absent: the section decides. */
  agentId?: string;
  /** Stable name of the session. Absent: not known. */
  agentSessionKey?: string;
  /** True: the agent's tools run in a sandbox. Absent: false. */
  sandboxed?: boolean;
}

/** The selected memory plugin's lines for one run. */
export type MemoryPromptSection = (params: MemoryPromptParams) => string[];

// Ambient because the documented signature below takes no host: hosts put the active memory section
// here.
const SECTION = Symbol.for("clew.memory-prompt-section");
const ambient = globalThis as { [SECTION]?: MemoryPromptSection };

/** Hosts only: the active memory section, or undefined when no memory plugin is selected. */
export function provideMemoryPromptSection(section: MemoryPromptSection | undefined): void {
  if (section === undefined) delete ambient[SECTION];
  else ambient[SECTION] = section;
}

/**
 * The memory section as one normalised text; undefined when there is none (contract §5).
 * Synchronous.
 */
export function buildMemorySystemPromptAddition(params: MemoryPromptParams): string | undefined {
  return normalizePromptText(buildActiveMemoryPromptSection(params).join("\n"));
}

/**
 * The memory section's lines as they are, in an array of the caller's own; empty when no memory
 * section is provided (contract §5). Synchronous.
 *
 * @example
 * ```ts
 * import { buildActiveMemoryPromptSection } from "@clew/plugin-sdk/memory-host-core";
 *
 * const lines = buildActiveMemoryPromptSection({ availableTools: new Set(["memory_search"]) });
 * console.log(lines);
 * ```
 *
 * ```text
 * []
 * ```
 */
export function buildActiveMemoryPromptSection(params: MemoryPromptParams): string[] {
  return ambient[SECTION]?.(params).filter((line) => typeof line === "string") ?? [];
}

/**
 * Trimmed, LF line ends, no trailing blanks; undefined when nothing is left (contract §3.1 step 4).
 */
export function normalizePromptText(text: string | undefined): string | undefined {
  const normalized = text
    ?.replace(/\r\n?/g, "\n")
    .replace(/[ \t]+$/gm, "")
    .trim();
  return normalized === "" ? undefined : normalized;
}
