// Settings by which requests of every wire reach one model server.
import { DOOR_APIS } from "../../../gateway/src/config/door.ts";
import type { DoorApi } from "../../../gateway/src/door/wires/door-wire.ts";

/** `url`: up to and without a version. The agent's own model speaks the first wire. */
export function doorConfig(url: string) {
  const nameOf = (api: DoorApi) => (api === DOOR_APIS[0] ? "soak" : `soak-${api}`);
  const providers = DOOR_APIS.map((api) => [
    nameOf(api),
    {
      baseUrl: `${url}${api === "google-generative-ai" ? "/v1beta" : "/v1"}`,
      ...{ api, apiKey: "soak" },
      models: [{ id: "soak", contextWindow: 200_000, maxTokens: 4096 }],
    },
  ]);
  const upstreams = DOOR_APIS.map((api) => [api, { provider: nameOf(api) }]);
  return {
    agents: { defaults: { model: { primary: "soak/soak" } } },
    models: { providers: Object.fromEntries(providers) as object },
    door: { upstreams: Object.fromEntries(upstreams) as object },
  };
}
