// Settles where a server of one's own is, with which key, and what it has.
import { findProvider } from "@clew/plugin-sdk/host";
import { type Environment, keyNames } from "../../config/environment.ts";
import { SignInError } from "../../credentials/credential.ts";
import { keyFromCommand } from "../../credentials/key-command.ts";
import { addressBelow, askForModels, type ModelList } from "../../models/offered-models.ts";
import type { FirstSettings } from "./config-text.ts";
import { describeBelow } from "./local-servers.ts";

/** A server elsewhere takes longer than one on this machine, ms. */
const OWN_SERVER_MS = 5000;
/** A program that prints a key may ask the person first, ms. */
const COMMAND_MS = 30_000;

type Key = NonNullable<FirstSettings["key"]>;

export interface KeyQuestions {
  environment: Environment;
  note: (text: string) => void;
  /** The address typed instead; undefined: this one is meant. */
  askAddress(baseUrl: string): Promise<string | undefined>;
  /** Undefined: it wants none, or nothing else than before is meant. */
  askKey(isAgain: boolean): Promise<Key | undefined>;
}

/** An address that lists no models is asked for again, unless it is meant. */
export async function settleAddress(
  typed: string,
  { note, askAddress }: Pick<KeyQuestions, "note" | "askAddress">,
): Promise<string> {
  const at = { baseUrl: typed, timeoutMs: OWN_SERVER_MS };
  const list = await askForModels(at);
  const below = await addressBelow(at, list);
  if (below !== null) {
    note(`   ${describeBelow(typed, below)}`);
    return below;
  }
  const problem = describeAddress(typed, list);
  if (problem === null) return typed;
  note(`   ${problem}`);
  const other = await askAddress(typed);
  return other === undefined ? typed : settleAddress(other, { note, askAddress });
}

/** Pure. Null: it is as it should be, or wants a key. */
function describeAddress(baseUrl: string, list: ModelList): string | null {
  if (list.kind === "silent") return `Nothing answers at ${baseUrl}.`;
  if (list.kind !== "no-list") return null;
  // Others refuse whoever shows no key in ways of their own.
  if (list.status !== 404 && list.status !== 200) return null;
  const hint = /\/v\d\w*\/?$/.test(baseUrl)
    ? ""
    : " Most addresses end with /v1, and there is nothing at that either.";
  return `${baseUrl} has no list of models (HTTP ${list.status}).${hint}`;
}

/** A key that is refused, or that its command does not print, is asked for again. */
export async function settleKey(
  { provider, baseUrl }: { provider: string; baseUrl: string },
  questions: KeyQuestions,
): Promise<{ key: Key | undefined; models: string[] | null }> {
  const { environment, note, askKey } = questions;
  const isSet = environment.providerKey(provider) !== undefined;
  let key = isSet ? undefined : await askKey(false);
  for (;;) {
    const held = await heldKey(key, provider, environment);
    if (held === null) return { key, models: null };
    const found = "problem" in held ? held : await listWith(held.key, { provider, baseUrl });
    if ("kind" in found && found.kind !== "refused")
      return { key, models: found.kind === "models" ? found.models : null };
    const about = { baseUrl, provider, key, hasKey: "key" in held && held.key !== undefined };
    note(`   ${"problem" in found ? found.problem : describeRefused(about, found.status)}`);
    const other = await askKey(true);
    if (other === undefined) return { key, models: null };
    key = other;
  }
}

/** Null: the variable is not there yet. */
async function heldKey(
  key: Key | undefined,
  provider: string,
  environment: Environment,
): Promise<{ key: string | undefined } | { problem: string } | null> {
  if (key === undefined) return { key: environment.providerKey(provider) };
  if ("variable" in key) {
    const held = environment.variable(key.variable);
    return held === undefined ? null : { key: held };
  }
  const { readText } = environment;
  const { fetch } = globalThis;
  try {
    const source = keyFromCommand(key.command, COMMAND_MS);
    const found = await source.obtain({ fetch, now: Date.now, readText });
    return { key: found.kind === "key" ? found.key : undefined };
  } catch (error) {
    if (!(error instanceof SignInError)) throw error;
    return { problem: `No key came: ${error.message}.` };
  }
}

const listWith = (
  key: string | undefined,
  { provider, baseUrl }: { provider: string; baseUrl: string },
): Promise<ModelList> =>
  askForModels({
    ...{ baseUrl, timeoutMs: OWN_SERVER_MS },
    ...(key !== undefined && { headers: keyHeaders(provider, key) }),
  });

/** Pure. */
function keyHeaders(provider: string, key: string): Record<string, string> {
  const api = findProvider(provider)?.apis?.[0];
  if (api === "anthropic-messages") return { "x-api-key": key, "anthropic-version": "2023-06-01" };
  if (api === "google-generative-ai") return { "x-goog-api-key": key };
  return { authorization: `Bearer ${key}` };
}

/** Pure. */
function describeRefused(
  {
    baseUrl,
    provider,
    key,
    hasKey,
  }: { baseUrl: string; provider: string; key: Key | undefined; hasKey: boolean },
  status: number,
): string {
  if (!hasKey) return `${baseUrl} wants a key (HTTP ${status}).`;
  const where =
    key === undefined
      ? `in ${keyNames(provider)[0]}`
      : "variable" in key
        ? `in ${key.variable}`
        : "that the command prints";
  return `${baseUrl} refuses the key ${where} (HTTP ${status}).`;
}
