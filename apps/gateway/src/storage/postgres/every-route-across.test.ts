import { describe, expect, it } from "vitest";
import {
  UNLESS_THERE,
  whyNoPostgres,
} from "../../../../../packages/store-postgres/src/testing/shared.ts";
import { post } from "../../testing/gateway.ts";
import { heldModel } from "../../testing/held-model.ts";
import { type Member, startMembers } from "../../testing/member-gateways.ts";

const LONG = { timeout: 120_000 };
const MAIN = "/api/sessions/main";

/** What each request is sent that changes something; the order is theirs. */
const CHANGES: Record<string, RequestInit> = {
  "POST /messages": post({ text: "And more." }),
  "POST /engine/retry": post({}),
  "POST /whatif": post({ engine: "legacy" }),
  "DELETE /waiting/{id}": {},
  "DELETE /waiting": {},
  "POST /abort": post({}),
  "DELETE ": {},
};

/** What calls cost is told by the gateway that made them. */
const COUNTED = "GET /usage";

/** As the description of the API lists them: "GET /calls/{id}". */
async function routesOf({ asks }: Member): Promise<string[]> {
  const { paths } = await (await asks("read", "/api/openapi.json")).json();
  return Object.entries(paths as Record<string, object>).flatMap(([path, methods]) => {
    const [, rest] = /^\/api\/sessions\/\{key\}(.*)$/.exec(path) ?? [];
    if (rest === undefined) return [];
    return Object.keys(methods).map((method) => `${method.toUpperCase()} ${rest}`);
  });
}

async function told(member: Member, path: string): Promise<[number, unknown]> {
  const answer = await member.asks("read", path);
  const text = await answer.text();
  const isJson = answer.headers.get("content-type")?.includes("json") === true;
  return [answer.status, isJson ? JSON.parse(text) : text];
}

describe.skipIf(whyNoPostgres() !== null)(`requests that name a session ${UNLESS_THERE}`, () => {
  it(
    "are answered alike at each gateway, with tokens that differ, each of them",
    LONG,
    async () => {
      const [one, two] = await startMembers(["one", "two"]);
      for (const text of ["Here.", "There."])
        await (await one!.asks("own", `${MAIN}/messages`, post({ text }))).text();
      const routes = await routesOf(one!);
      expect(routes.length).toBeGreaterThan(25);
      const { calls } = await (await one!.asks("read", `${MAIN}/calls`)).json();
      const { entries } = await (await one!.asks("read", `${MAIN}/entries`)).json();
      const [from, to] = [calls[0].id, calls.at(-1).id];
      const pathOf = (rest: string) =>
        rest
          .replace("{id}", rest.startsWith("/entries") ? entries[0].id : to)
          .replace("{part}/{index}", "messages/0")
          .replace("{from}", from)
          .replace("{to}", to)
          .replace("/find", "/find?text=Here");
      for (const route of routes.filter((each) => each.startsWith("GET "))) {
        const path = `${MAIN}${pathOf(route.slice("GET ".length))}`;
        const [there, here] = [await told(one!, path), await told(two!, path)];
        if (route !== COUNTED) expect([route, here]).toEqual([route, there]);
        else expect([route, here[0]]).toEqual([route, there[0]]);
      }
      const changes = routes.filter((route) => !route.startsWith("GET "));
      expect(changes.sort()).toEqual(Object.keys(CHANGES).sort());
      const statuses: [string, number][] = [];
      for (const [route, init] of Object.entries(CHANGES)) {
        const [method = "", rest = ""] = route.split(" ");
        const answer = await two!.asks("own", `${MAIN}${rest.replace("{id}", "none")}`, {
          ...init,
          method,
        });
        await answer.text();
        statuses.push([route, answer.status]);
      }
      expect(statuses).toEqual(
        Object.keys(CHANGES).map((route) => [route, route.includes("{id}") ? 404 : 200]),
      );
      expect((await one!.asks("read", MAIN)).status).toBe(404);
    },
  );

  it(
    "are told by each what runs in a session, and what is stored where its gateway is gone",
    LONG,
    async () => {
      const { config, asked } = await heldModel();
      const [one, two] = await startMembers(["one", "two"], config);
      const saying = one!.asks("own", `${MAIN}/messages`, post({ text: "Here." }));
      const reply = await asked();
      reply.say("Some");
      const underWay = async (at: Member) => (await told(at, `${MAIN}/turn`))[1];
      const running = (await underWay(one!)) as { underWay: { turnId: string } };
      expect(running.underWay).not.toBeNull();
      expect(await underWay(two!)).toEqual(running);
      reply.finish();
      await (await saying).text();
      expect(await underWay(two!)).toEqual({ underWay: null });
      await one!.stop();
      for (const path of ["turn", "status", "context"])
        expect([path, (await told(two!, `${MAIN}/${path}`))[0]]).toEqual([path, 200]);
    },
  );
});
