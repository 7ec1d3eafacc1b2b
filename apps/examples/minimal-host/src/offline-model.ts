// The model port over the offline model, which needs no key.
import type { ModelPort } from "@clew/engine-core";
import { completeModel, streamModel } from "@clew/providers";

const limits = { contextWindow: 32_000, maxOutputTokens: 4_096 };
const endpoint = { baseUrl: "" };

export const offline = { provider: "offline", api: "offline", id: "offline", ...limits };

export const model: ModelPort = {
  stream: (call) => streamModel({ call, endpoint }),
  complete: (call) => completeModel({ call, endpoint }),
};
