// What is known of the model behind a route, put together from the rows that fit it.

import type {
  ModelProfile,
  ProfileChanges,
  ProfileMatch,
  ProfileRow,
} from "../contract/profile.ts";
import { findApi } from "./apis.ts";
import { BEDROCK } from "./models/bedrock.ts";
import { CLAUDE } from "./models/claude.ts";
import { GEMINI } from "./models/gemini.ts";
import { GPT } from "./models/gpt.ts";
import { OPEN } from "./models/open.ts";
import { SERVERS } from "./models/servers.ts";
import { findProvider } from "./providers.ts";
import { ANY_WIRE, WIRE_PROFILES } from "./wire-profiles.ts";

/** In the order in which they are laid over each other: makers first, then who serves them. */
export const PROFILE_ROWS: readonly ProfileRow[] = [
  ...CLAUDE,
  ...GPT,
  ...GEMINI,
  ...OPEN,
  ...BEDROCK,
  ...SERVERS,
];

/** No price was looked up later, as a date; the comments of the rows tell more. */
export const PRICES_AS_OF = "2025-11-30";

/** A model by name, and how it is reached. */
export interface ProfileRequest {
  /** Provider id; compared trimmed and in lower case. */
  provider: string;
  /** Wire protocol. */
  api: string;
  /** As its provider names it; compared in lower case. */
  id: string;
  /** True: it is known to think. Absent: not known. */
  reasoning?: boolean;
  /** What a configuration says differently. Default: nothing. */
  changes?: ProfileChanges;
}

const KEPT = 200;
const known = new Map<string, ModelProfile>();

/**
 * The profile of a model on its route; a model nobody recorded gets what its api, its provider and
 * its name let assume, with the assumptions in words. The same request gives the same object while
 * it is in use.
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { modelProfile } from "@clew/plugin-sdk/host";
 *
 * const route = { provider: "deepseek", api: "openai-completions", id: "deepseek-reasoner" };
 * assert.equal(modelProfile(route).reasoning.replay, "require");
 * const changes = { reasoning: { replay: "strip" as const } };
 * assert.equal(modelProfile({ ...route, changes }).reasoning.replay, "strip");
 * ```
 */
export function modelProfile(request: ProfileRequest): ModelProfile {
  const { changes = {} } = request;
  const route = {
    provider: canonical(request.provider.trim().toLowerCase()),
    api: request.api,
    id: request.id.toLowerCase(),
    reasoning: request.reasoning ?? false,
  };
  const key = JSON.stringify([route, changes]);
  const found = known.get(key) ?? build(route, changes);
  known.delete(key);
  known.set(key, found);
  if (known.size > KEPT) known.delete(known.keys().next().value ?? "");
  return found;
}

/** What an alias stands for. */
const canonical = (provider: string): string => findProvider(provider)?.id ?? provider;

type Plain = Required<Pick<ProfileRequest, "provider" | "api" | "id" | "reasoning">>;

function build(route: Plain, changes: ProfileChanges): ModelProfile {
  const wire = findApi(route.api)?.wire;
  const cacheTtlMs = findProvider(route.provider)?.cacheTtlMs;
  const rows = PROFILE_ROWS.filter(({ when }) => fits(when, route));
  const layers = [
    ...(cacheTtlMs === undefined ? [] : [{ cache: { shortMs: cacheTtlMs } }]),
    ...rows.map(({ set }) => set),
    changes,
  ];
  const profile = layers.reduce(withChanges, wire === undefined ? ANY_WIRE : WIRE_PROFILES[wire]);
  return { ...profile, assumed: assumptions(route, profile, rows) };
}

function fits({ providers, apis, models, reasoning }: ProfileMatch, route: Plain): boolean {
  return (
    (providers === undefined || providers.includes(route.provider)) &&
    (apis === undefined || apis.includes(route.api)) &&
    (models === undefined || models.test(route.id)) &&
    (reasoning === undefined || reasoning === route.reasoning)
  );
}

function withChanges(profile: ModelProfile, changes: ProfileChanges): ModelProfile {
  const { reasoning, calls, turns, images, cache, limits } = profile;
  return {
    reasoning: laidOver(reasoning, changes.reasoning),
    calls: laidOver(calls, changes.calls),
    turns: laidOver(turns, changes.turns),
    images: laidOver(images, changes.images),
    cache: laidOver(cache, changes.cache),
    limits: laidOver(limits, changes.limits),
    cost: changes.cost ?? profile.cost,
    assumed: profile.assumed,
  };
}

const laidOver = <Group extends object>(group: Group, changes: object = {}): Group => ({
  ...group,
  ...Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined)),
});

function assumptions(
  { api, id }: Plain,
  { limits, cost, reasoning }: ModelProfile,
  rows: readonly ProfileRow[],
): string[] {
  const named = rows.some(({ when }) => when.models !== undefined);
  return [
    ...(findApi(api) === undefined
      ? [`Nobody recorded the api "${api}": it is taken to refuse nothing that others accept.`]
      : []),
    ...(named
      ? []
      : [`Nobody recorded the model "${id}": its thinking is treated as "${reasoning.replay}".`]),
    ...(limits.contextWindow === null ? ["Its window is not recorded."] : []),
    ...(cost === null ? ["Its prices are not recorded."] : []),
  ];
}
