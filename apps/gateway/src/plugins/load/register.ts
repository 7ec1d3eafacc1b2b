// What each kind of registration must have to be taken.
import type { PluginApi, PluginCommand } from "@clew/plugin-sdk/core";
import { isRecord, type PluginManifest } from "@clew/plugin-sdk/host";
import { schemaFault } from "../find/schema-cost.ts";
import { messageOf } from "../invalid.ts";
import { hookRule } from "./hook-rules.ts";
import { compileSchema, type SchemaChecker } from "./json-schema.ts";
import {
  isReadable,
  nameIn,
  type RegistrationKind,
  type Registrations,
  toFactory,
  wrongKind,
} from "./registrations.ts";

/** One plugin while its `register` runs. Whatever it hands over may have any form. */
export interface Registering {
  manifest: PluginManifest;
  /** `plugins.entries.<id>.hooks`. */
  hookPermissions: unknown;
  into: Registrations;
  /** False when it is too late, or when nothing of this kind is wanted. */
  accepts(kind: RegistrationKind, what: string): boolean;
  /** `about`: the words that name its one thing, where others may be told the same. */
  complain(message: string, level?: "warning" | "error", about?: string): void;
}

type Given<Method extends "registerContextEngine" | "registerTool" | "on"> = Parameters<
  PluginApi[Method]
>;

export function registerEngine(
  { into, accepts, complain }: Registering,
  ...[id, factory]: Given<"registerContextEngine">
): void {
  if (!accepts("engine", `context engine "${nameIn(id)}"`)) return;
  const engineId = typeof id === "string" ? id.trim() : "";
  if (engineId === "") complain("context engine registration missing id");
  else if (!isReadable(engineId)) complain(unreadable("context engine id", engineId));
  else if (typeof factory !== "function")
    complain(`context engine "${engineId}" registration missing factory`);
  else if (engineId === "legacy") complain("context engine id reserved by core: legacy");
  else
    into.engines = [
      ...into.engines.filter((engine) => engine.engineId !== engineId),
      { engineId, factory },
    ];
}

/** Pure. */
export const unreadable = (what: string, name: string): string =>
  `${what} "${nameIn(name).slice(0, 64)}" holds characters that nobody can see; it is left out`;

export function registerTool(
  { manifest, into, accepts, complain }: Registering,
  ...[tool, options]: Given<"registerTool">
): void {
  const names = namesOf(tool, options);
  if (!accepts("tool", `tool ${names?.join(", ") ?? ""}`)) return;
  const problem = toolProblem(tool, names?.map(nameIn).join(", ") ?? "");
  if (problem !== null) {
    complain(problem);
    return;
  }
  const declared = manifest.contracts?.tools ?? [];
  const undeclared = names?.filter((each) => !declared.includes(each)) ?? [];
  for (const name of undeclared) into.undeclared.add(name);
  if (declared.length === 0 && names === undefined) complain(undeclaredTools([]), "warning");
  for (const name of names ?? [])
    if (declared.includes(name) && !isToolName(name)) complain(badToolName(name), "warning");
  // Of a factory those are offered that are declared; one tool is declared by all of its names.
  const kept = names?.filter((each) => declared.includes(each) && isToolName(each));
  const isLeftOut = kept?.length === 0 || (typeof tool !== "function" && undeclared.length > 0);
  if (declared.length > 0 && !isLeftOut) into.tools.push({ names: kept, make: toFactory(tool) });
}

/** Pure. Null: it can be offered, if it may. `name`: for people. */
export function toolProblem(tool: unknown, name: string): string | null {
  if (typeof tool === "function") return null;
  if (!isRecord(tool))
    return wrongKind("registerTool", "a tool, or a function that makes tools", tool);
  if (name === "") return "a tool that was given to api.registerTool has no name; it is left out";
  if (typeof tool.execute !== "function")
    return `tool ${name} has no function "execute"; it is left out`;
  const { parameters = {} } = tool;
  if (!isRecord(parameters))
    return `the parameters of tool ${name} are no JSON Schema; it is left out`;
  const fault = schemaFault(parameters);
  return fault === null
    ? null
    : `tool ${name} is left out, because the schema of its parameters ${fault}`;
}

/** Pure. Why they are left out; empty = a factory's, which does not say their names. */
export function undeclaredTools(names: readonly string[]): string {
  const [first, ...others] = names.map((name) => `"${name.slice(0, 64)}"`);
  const entry = (list: string) => `"contracts": { "tools": [${list}] }`;
  if (first === undefined)
    return `its tools are left out, because openclaw.plugin.json declares none; write their names there: ${entry('"…"')}`;
  const list = [first, ...others].join(", ");
  return others.length === 0
    ? `tool ${first} is left out, because openclaw.plugin.json does not declare it; add to it: ${entry(first)}`
    : `tools ${list} are left out, because openclaw.plugin.json does not declare them; add to it: ${entry(list)}`;
}

/** What all providers take; one tool that is called otherwise would cost every call of a model. */
export const isToolName = (name: string): boolean => /^[A-Za-z0-9_-]{1,64}$/.test(name);

export const badToolName = (name: string): string =>
  `tool "${name.slice(0, 64)}" is left out: a tool's name may have letters, digits, "_" and "-", and at most 64 of them`;

/** Every name that is given for it counts, as in the other host; undefined = none is. */
function namesOf(...[tool, options]: Given<"registerTool">): string[] | undefined {
  const { name, names } = (options ?? {}) as { name?: unknown; names?: unknown };
  const own = typeof tool === "function" ? undefined : tool?.name;
  const all = [...(Array.isArray(names) ? names : []), name, own];
  const given = [...new Set(all.filter((each) => typeof each === "string"))];
  return given.length === 0 ? undefined : given;
}

export function registerCommand(
  { into, accepts, complain }: Registering,
  command: PluginCommand,
): void {
  if (!accepts("command", `command ${nameIn(command?.name)}`)) return;
  if (!isRecord(command))
    complain(wrongKind("registerCommand", "an object with name and handler", command));
  else if (typeof command?.name !== "string" || !/^[a-z][\w-]*$/i.test(command.name))
    complain(`command name "${nameIn(command?.name)}" is not a word`);
  else if (typeof command.handler !== "function")
    complain(`command "${command.name}" registration missing handler`);
  else into.commands.push(command);
}

export function registerHook(
  { manifest, hookPermissions, into, accepts, complain }: Registering,
  ...[name, handler, options]: Given<"on">
): void {
  if (!accepts("hook", `hook ${nameIn(name)}`)) return;
  const rule = hookRule(name, hookPermissions, manifest);
  if (typeof handler !== "function") complain(`hook ${nameIn(name)} registration missing handler`);
  else if (rule.kind !== "allowed") complain(rule.reason, "warning", `"${nameIn(name)}"`);
  else into.hooks.push({ name, handler, priority: Number(options?.priority ?? 0) || 0 });
}

export interface GivenAction {
  id?: unknown;
  schema?: unknown;
  handler?: unknown;
}

export function registerAction(
  { manifest, into, accepts, complain }: Registering,
  action: GivenAction,
): void {
  if (!accepts("action", `session action ${nameIn(action?.id)}`)) return;
  if (!isRecord(action)) {
    const member = "session.controls.registerSessionAction";
    complain(wrongKind(member, "an object with id and handler", action));
    return;
  }
  const { id, schema, handler } = action as GivenAction;
  if (typeof id !== "string" || typeof handler !== "function")
    complain("session action registration missing id or handler");
  else if (!(manifest.contracts?.sessionActions ?? []).includes(id))
    complain(`plugin must declare contracts.sessionActions for: ${id}`);
  else {
    const checker = compiled(schema);
    if (!checker.ok) complain(`session action "${id}" has no usable schema: ${checker.reason}`);
    else into.actions.push({ id, schema: checker.schema, handler: handler as Handler });
  }
}

type Handler = (given: Record<string, unknown>) => unknown;

type Compiled = { ok: true; schema: SchemaChecker | undefined } | { ok: false; reason: string };

/** Without a schema everything is taken. */
function compiled(schema: unknown): Compiled {
  try {
    return { ok: true, schema: isRecord(schema) ? compileSchema(schema) : undefined };
  } catch (error) {
    return { ok: false, reason: messageOf(error) };
  }
}
