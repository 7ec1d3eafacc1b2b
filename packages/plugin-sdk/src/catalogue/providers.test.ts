import { describe, expect, it } from "vitest";
import { APIS, findApi } from "./apis.ts";
import { modelProfile } from "./find-profile.ts";
import { findProvider, PROVIDERS, providerAt } from "./providers.ts";

describe("the provider catalogue", () => {
  it("names every provider and every api once, in lower case", () => {
    const names = PROVIDERS.flatMap(({ id, aliases = [] }) => [id, ...aliases]);
    for (const ids of [names, APIS.map(({ id }) => id)]) {
      expect(new Set(ids).size).toBe(ids.length);
      for (const id of ids) expect(id).toMatch(/^[a-z0-9][a-z0-9.-]*$/);
    }
  });

  it.each(PROVIDERS.map((provider) => [provider.id, provider] as const))(
    "%s speaks known apis, is found by its address, and names variables as a shell can",
    (_id, { id, apis, baseUrl, hosts = [], needsKey = [] }) => {
      for (const api of apis) expect(findApi(api), api).toBeDefined();
      expect(findProvider(id)?.id).toBe(id);
      for (const name of needsKey) expect(name).toMatch(/^[A-Z][A-Z0-9_]*$/);
      for (const host of hosts) {
        const example = host.startsWith(".") ? `a${host}` : host;
        expect(providerAt(`https://${example}/v1`)?.id).toBe(id);
      }
      if (baseUrl === undefined) return;
      const { hostname } = new URL(baseUrl);
      expect(providerAt(baseUrl)?.id).toBe(hostname === "127.0.0.1" ? undefined : id);
    },
  );

  it("knows a provider by its other names, and its models by what it is", () => {
    expect(findProvider("kimi")?.id).toBe("moonshot");
    expect(findProvider("azure")?.id).toBe("azure-openai");
    const route = { api: "openai-completions", id: "kimi-k2-thinking" };
    expect(modelProfile({ ...route, provider: "kimi" })).toEqual(
      modelProfile({ ...route, provider: "moonshot" }),
    );
  });

  it("knows no provider by a name every object has, and none at an address that is no URL", () => {
    expect([findProvider("constructor"), findApi("toString")]).toEqual([undefined, undefined]);
    const strangers = [
      ...["", "nonsense", "https://api.openai.com.evil.example"],
      ...["https://x.openai.azure.com.evil.example", "https://openai.azure.com.example"],
    ];
    expect(strangers.filter((url) => providerAt(url) !== undefined)).toEqual([]);
    expect(providerAt("https://x.openai.azure.com/openai/v1")?.id).toBe("azure-openai");
  });

  it("knows how long a prompt stays cached where its provider says so: five minutes", () => {
    const known = PROVIDERS.filter(({ cacheTtlMs }) => cacheTtlMs !== undefined);
    expect(known.map(({ id }) => id)).toEqual(expect.arrayContaining(["anthropic", "openai"]));
    for (const { id, cacheTtlMs } of known) expect(cacheTtlMs, id).toBe(5 * 60 * 1000);
  });
});
