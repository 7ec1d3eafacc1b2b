// Builds the memory part of the system prompt that an engine adds.
import { functionOf, loadedOpenClaw, loadOpenClaw } from "./other-host.ts";

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

/** The section of a run that goes on, as it was made before the run began. */
export interface PreparedMemoryPrompt {
  /** What it was made for. */
  readonly params: MemoryPromptParams;
  /** Those that were waited for included. */
  readonly lines: readonly string[];
  /** Told whenever somebody takes the lines. Absent: nobody wants to know. */
  onRead?(): void;
}

/**
 * What a host installs to know which run goes on: an AsyncLocalStorage, or anything else that can
 * tell.
 */
export interface MemoryPromptSlot {
  /** Of the run that goes on; undefined = none does, or nothing was prepared for it. */
  getStore(): PreparedMemoryPrompt | undefined;
  /** Makes a section with the lines that have to be waited for. Absent: it is built at once. */
  prepare?(params: MemoryPromptParams): Promise<string[]>;
}

// Ambient because the documented signatures below take no host: hosts put the active memory section
// here, and what is known of the run that goes on.
const SECTION = Symbol.for("clew.memory-prompt-section");
const SLOT = Symbol.for("clew.memory-prompt-slot");
const ambient = globalThis as { [SECTION]?: MemoryPromptSection; [SLOT]?: MemoryPromptSlot };

/** Hosts only: the active memory section, or undefined when no memory plugin is selected. */
export function provideMemoryPromptSection(section: MemoryPromptSection | undefined): void {
  if (section === undefined) delete ambient[SECTION];
  else ambient[SECTION] = section;
}

/** Hosts only: where the section of a run that goes on is found; undefined takes it away. */
export function provideMemoryPromptSlot(slot: MemoryPromptSlot | undefined): void {
  if (slot === undefined) delete ambient[SLOT];
  else ambient[SLOT] = slot;
}

/**
 * The memory section as one normalised text; undefined when there is none (contract §5).
 * Synchronous. Throws as `buildActiveMemoryPromptSection` does.
 */
export function buildMemorySystemPromptAddition(params: MemoryPromptParams): string | undefined {
  if (isNoneHere()) {
    const build = functionOf(loadedOpenClaw(), "buildMemorySystemPromptAddition");
    if (build !== undefined) return textOf(build(params));
  }
  return normalizePromptText(buildActiveMemoryPromptSection(params).join("\n"));
}

/**
 * The same, with lines that have to be waited for; in a run that was prepared, those of the run
 * (contract §5). Throws as `buildActiveMemoryPromptSection` does.
 */
export async function prepareMemorySystemPromptAddition(
  params: MemoryPromptParams,
): Promise<string | undefined> {
  if (isNoneHere()) {
    const module = await loadOpenClaw();
    const build =
      functionOf(module, "prepareMemorySystemPromptAddition") ??
      functionOf(module, "buildMemorySystemPromptAddition");
    if (build !== undefined) return textOf(await build(params));
  }
  const slot = ambient[SLOT];
  const lines =
    slot?.prepare === undefined || slot.getStore() !== undefined
      ? buildActiveMemoryPromptSection(params)
      : texts(await slot.prepare(params));
  return normalizePromptText(lines.join("\n"));
}

/**
 * The memory section's lines as they are, in an array of the caller's own; empty when no memory
 * section is provided (contract §5). Synchronous. In a run for which the section was prepared,
 * these are its lines, and what `params` leaves open is the run's; `prepared` stands in for the
 * run's. Throws when `params` names another agent, session, sandbox or citations mode than the
 * run's. Other tools than the run's are answered by a section built at once for them.
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
export function buildActiveMemoryPromptSection(
  params: MemoryPromptParams,
  prepared: PreparedMemoryPrompt | undefined = ambient[SLOT]?.getStore(),
): string[] {
  if (prepared === undefined) return texts(ambient[SECTION]?.(params));
  requireSameRun(params, prepared.params);
  prepared.onRead?.();
  return offersSameTools(params, prepared.params)
    ? texts(prepared.lines)
    : texts(ambient[SECTION]?.({ ...prepared.params, ...params }));
}

/** True: no Clew provides a section, so that another host's may count. */
const isNoneHere = () => ambient[SECTION] === undefined && ambient[SLOT] === undefined;

const textOf = (text: unknown) => normalizePromptText(typeof text === "string" ? text : undefined);

/** Promises and other things that are no list hold no lines yet. */
const texts = (lines: unknown): string[] =>
  Array.isArray(lines) ? lines.filter((line) => typeof line === "string") : [];

/** Throws when a run would be told of another one's memory. */
function requireSameRun(asked: MemoryPromptParams, run: MemoryPromptParams): void {
  const keys = ["agentId", "agentSessionKey", "sandboxed", "citationsMode"] as const;
  if (keys.some((key) => asked[key] !== undefined && asked[key] !== run[key]))
    throw new Error("prepared memory prompt section does not match the current run");
}

/** Nothing said of tools is as good as the run's. */
function offersSameTools(asked: MemoryPromptParams, run: MemoryPromptParams): boolean {
  const tools = new Set(asked.availableTools ?? []);
  const isOffered = (name: string) => run.availableTools.has(name);
  return (
    tools.size === 0 || (tools.size === run.availableTools.size && [...tools].every(isOffered))
  );
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
