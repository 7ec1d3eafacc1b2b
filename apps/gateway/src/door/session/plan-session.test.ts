// Names sessions in every way that a request has.
import { describe, expect, it } from "vitest";
import type { DoorApi } from "../wires/door-wire.ts";
import { DOOR_WIRES } from "../wires/find-wire.ts";
import { planSession } from "./plan-session.ts";
import { replyId } from "./reply-id.ts";

let ids = 0;
const names = { agentId: "main", agents: ["clerk"], unnamed: "desk", newId: () => String(ids++) };

function plan(api: DoorApi, body: Record<string, unknown>, session?: string) {
  const wire = DOOR_WIRES[api];
  const asked = { [wire.list]: [], model: "clew", ...body };
  const headers = session === undefined ? [] : ([["x-clew-session", session]] as const);
  return planSession({ wire, headers, body: asked, request: wire.read(asked, "/")! }, names);
}

const place = { key: "agent:main:work", entryId: "e", answer: 1 };
const previous_response_id = replyId(place);

describe("the session of a request", () => {
  it("that names nothing is that of the settings, but by Responses one of its own", () => {
    for (const api of ["openai-completions", "anthropic-messages"] as const)
      expect(plan(api, {})).toEqual({ key: "agent:main:desk" });
    const keys = [{}, { store: true }, { store: false }, { store: false }].map((body) => {
      const planned = plan("openai-responses", body);
      return "key" in planned ? planned.key : "";
    });
    expect(new Set(keys).size).toBe(4);
    for (const key of keys) expect(key).toMatch(/^agent:main:door-/);
  });

  it("is named by header, then by conversation, then by the reply before", () => {
    const body = { conversation: { id: "talk" } };
    expect(plan("openai-responses", body, "b%20c")).toEqual({ key: "agent:main:b c" });
    expect(plan("openai-responses", body)).toEqual({ key: "agent:main:talk" });
    expect(plan("openai-responses", { previous_response_id })).toEqual({
      ...{ key: place.key, after: place },
    });
  });

  it("goes on from no reply of another", () => {
    const body = { previous_response_id };
    expect(plan("openai-responses", body, "work")).toMatchObject({ key: place.key });
    expect(plan("openai-responses", body, "other")).toMatchObject({
      refused: {
        ...{ status: 400, body: { error: { code: "previous_response_of_another_session" } } },
      },
    });
  });
});
