// Streams or completes a model call, builds its request, and says why one failed.
export type { ModelCall, ModelError, ModelRef, StreamEvent } from "@clew/plugin-sdk/host";
export { buildRequest } from "./build-request.ts";
export { DRIVER_APIS, findDriver } from "./find-driver.ts";
export type {
  DecoderOptions,
  Driver,
  Endpoint,
  LocalDriver,
  StreamDecoder,
  WireDriver,
  WireRequest,
} from "./provider.ts";
export {
  DEFAULT_RETRY,
  planRetry,
  type RetryNotice,
  type RetryOptions,
  type RetryPlan,
} from "./shared/retry.ts";
export { classifyError, type Failure, type FailureOrigin } from "./shared/wire-errors.ts";
export {
  type CompleteResult,
  completeModel,
  DEFAULT_IDLE_TIMEOUT_MS,
  type StreamModelOptions,
  streamModel,
} from "./stream.ts";
