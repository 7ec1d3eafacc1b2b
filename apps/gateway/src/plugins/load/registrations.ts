// Collects what one plugin registers while its `register` runs.
import type {
  ContextEngineFactory,
  MemoryCapability,
  MemoryPromptBuilder,
  PluginCommand,
  PluginTool,
  PluginToolFactory,
  RegistrationMode,
} from "@clew/plugin-sdk/core";
import { visible } from "../../text/visible.ts";
import type { SchemaChecker } from "./json-schema.ts";
import { noOffers, type Offers } from "./offers.ts";

export interface Diagnostic {
  level: "warning" | "error";
  /** One sentence, without the plugin's id. */
  message: string;
  /** Words in it that name its one thing. Absent: it says something of nothing else. */
  about?: string;
}

export interface RegisteredTool {
  /** Names known before the factory ran; undefined = whatever it returns, if declared. */
  names: readonly string[] | undefined;
  make: PluginToolFactory;
}

export interface RegisteredHook {
  name: string;
  handler: (event: never, context: never) => unknown;
  /** Higher runs earlier. */
  priority: number;
}

export interface SessionAction {
  id: string;
  schema: SchemaChecker | undefined;
  handler: (request: Record<string, unknown>) => unknown;
}

export interface Registrations {
  engines: { engineId: string; factory: ContextEngineFactory }[];
  tools: RegisteredTool[];
  commands: PluginCommand[];
  hooks: RegisteredHook[];
  actions: SessionAction[];
  /** What the plugin remembers with; used if the memory slot selects it. Absent: it has none. */
  memory?: MemoryCapability;
  /** Lines behind those of the selected memory. */
  memorySupplements: MemoryPromptBuilder[];
  offers: Offers;
  diagnostics: Diagnostic[];
  /** Tools that the manifest does not name. */
  undeclared: Set<string>;
  /** Members of `api` that were called, of those that have others beside them for the same. */
  members: Set<string>;
}

export function noRegistrations(): Registrations {
  return {
    ...{ engines: [], tools: [], commands: [], hooks: [], actions: [] },
    ...{ memorySupplements: [], offers: noOffers(), diagnostics: [] },
    ...{ undeclared: new Set<string>(), members: new Set<string>() },
  };
}

/** Pure. A name as it was handed over, which may be anything. */
export const nameIn = (given: unknown): string =>
  (typeof given === "object" && given !== null) || typeof given === "function"
    ? `(${kindOf(given)})`
    : visible(String(given));

/** Pure. Why a member cannot take what it was given, which is not even of the right kind. */
export const wrongKind = (member: string, takes: string, given: unknown): string =>
  `api.${member} takes ${takes}, and was given ${kindOf(given)}`;

function kindOf(given: unknown): string {
  if (given === null || given === undefined) return String(given);
  if (Array.isArray(given)) return "a list";
  if (typeof given === "function") return "a function";
  if (typeof given === "object") return "an object";
  return typeof given === "string" ? "a text" : `a ${typeof given}`;
}

/** Pure. Names are printed in terminals and logs: what hides in one is in none. */
export const isReadable = (name: string): boolean => visible(name) === name;

const ALL = [
  ...(["engine", "tool", "command", "hook", "action", "memory"] as const),
  ...(["service", "program", "route", "method"] as const),
];
export type RegistrationKind = (typeof ALL)[number];

/** What each mode takes; the rest is ignored without a word, because the plugin cannot know. */
const TAKES: Record<RegistrationMode, readonly RegistrationKind[]> = {
  full: ALL,
  discovery: ALL,
  "tool-discovery": ["tool"],
  "cli-metadata": ["command", "program"],
  "setup-only": [],
  "setup-runtime": [],
};

export function takes(mode: RegistrationMode, kind: RegistrationKind): boolean {
  return TAKES[mode].includes(kind);
}

/** A tool as a factory that always returns it. */
export function toFactory(tool: PluginTool | PluginToolFactory): PluginToolFactory {
  return typeof tool === "function" ? tool : () => tool;
}
