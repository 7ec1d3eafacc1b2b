// Lists the models that clients may name, in the form of each wire.
import { DOOR_APIS } from "../../config/door.ts";
import { toJson } from "../../own-json.ts";
import type { DoorParts } from "../call/parts.ts";
import { upstreamFor } from "../upstream/upstream-for.ts";
import type { DoorAnswer, DoorApi, DoorWire } from "../wires/door-wire.ts";

/**
 * Those that a request of the wire would reach, and the agents, which answer in sessions; the two
 * of OpenAI share one address.
 */
export function listModels(parts: ModelParts, wire: DoorWire): DoorAnswer {
  return { status: 200, body: LISTS[wire.api](namesOf(parts, wire)) };
}

/** As it stands in the list. */
export function oneModel(parts: ModelParts, wire: DoorWire, id: string): DoorAnswer {
  const { data, models } = LISTS[wire.api](namesOf(parts, wire).filter((name) => name === id));
  const [found] = (data ?? models) as Record<string, unknown>[];
  return found === undefined
    ? wire.error(404, `There is no model ${toJson(id)} here; GET the list for those there are.`)
    : { status: 200, body: found };
}

type ModelParts = Pick<DoorParts, "host" | "home">;

function namesOf(parts: ModelParts, wire: DoorWire): string[] {
  const { config } = parts.host;
  const apis: readonly DoorApi[] = wire.api.startsWith("openai-")
    ? DOOR_APIS.filter((api) => api.startsWith("openai-"))
    : [wire.api];
  const names = apis.flatMap((api) => {
    const upstream = upstreamFor(parts, api, "");
    if ("problem" in upstream) return [];
    const { provider, id } = upstream.resolved.model;
    const listed = (config.models.providers[provider]?.models ?? []).map((model) => model.id);
    return [...Object.keys(upstream.settings.models), ...listed, id];
  });
  const agents = ["clew", ...config.agents.list.map(({ id }) => `clew/${id}`)];
  return [...new Set([...names, ...agents])];
}

type Listing = (ids: readonly string[]) => Record<string, unknown>;

const openaiList: Listing = (ids) => ({
  object: "list",
  data: ids.map((id) => ({ id, object: "model", created: 0, owned_by: "clew" })),
});

const LISTS: Readonly<Record<DoorApi, Listing>> = {
  "openai-completions": openaiList,
  "openai-responses": openaiList,
  "anthropic-messages": (ids) => ({
    data: ids.map((id) => ({
      ...{ type: "model", id, display_name: id, created_at: "1970-01-01T00:00:00Z" },
    })),
    has_more: false,
    first_id: ids[0] ?? null,
    last_id: ids.at(-1) ?? null,
  }),
  "google-generative-ai": (ids) => ({
    models: ids.map((id) => ({
      name: `models/${id}`,
      displayName: id,
      supportedGenerationMethods: ["generateContent", "countTokens"],
    })),
  }),
};
