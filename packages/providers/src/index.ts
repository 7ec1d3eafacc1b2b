// Streams or completes a model call, builds its request, and says why one failed.
export { bodyOf, buildRequest } from "./build-request.ts";
export { DRIVER_APIS } from "./find-driver.ts";
export type { Endpoint, WireRequest } from "./provider.ts";
export { addressAt } from "./shared/address.ts";
export type { FailureOrigin } from "./shared/failure-origin.ts";
export { FLAVORS, serverAt } from "./shared/flavor.ts";
export type { AnswerLimit } from "./shared/http.ts";
export type { RetryNotice, RetryOptions } from "./shared/retry.ts";
export type { RequestSigner } from "./shared/sign.ts";
export { type UnsendablePlace, unsendableCharacter } from "./shared/unsendable.ts";
export { classifyError, type Failure } from "./shared/wire-errors.ts";
export {
  type CompleteResult,
  completeModel,
  type StreamModelOptions,
  streamModel,
} from "./stream.ts";
export {
  type AskedOfModel,
  type ThinkingSent,
  temperatureSent,
  thinkingSent,
} from "./thinking-sent.ts";
