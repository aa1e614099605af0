/**
 * Toolplane for TypeScript: call the tools of a cluster from an agent ({@link connect}), and serve tools of your own ({@link Worker}).
 *
 * @packageDocumentation
 */

export { type BatchNews, type BatchOptions } from "./batch.js";
export { type SurfaceChange, type ToolChange, type WatchSurfaceOptions } from "./changes.js";
export { type ConnectionOptions } from "./connection.js";
export {
  AnswerRefusedError,
  CanceledError,
  DigestError,
  JsonError,
  RequestError,
  SettingsError,
  ToolError,
  ToolplaneError,
  UnreachableError,
  type FieldViolation,
} from "./errors.js";
export { JsonText, parseExact, stringify } from "./json.js";
export { type Log } from "./log.js";
export { Toolbox, type OfferedTool, type OfferOptions, type ToolboxOptions } from "./loops/toolbox.js";
export { DECLINED, type ApprovalAnswer, type People, type Question } from "./people.js";
export { Kept, type ReadOptions } from "./read.js";
export { Result, type Content } from "./result.js";
export { type BatchItemSpec, type CallFacts } from "./spec.js";
export { type Progress, type StreamItem } from "./stream.js";
export {
  type Card,
  type Export,
  type ExportOptions,
  type Found,
  type LoadedTool,
  type Mapped,
  type NotLoaded,
  type SurfaceBudget,
  type UnloadedTool,
  type Search,
  type SearchOptions,
  type Shape,
  type Chosen,
  type SurfaceExtension,
  type SurfaceOptions,
  type Synonyms,
  type ToolEntry,
} from "./surface.js";
export { connect, Tools, type BatchResult, type CallOptions, type ConnectOptions } from "./tools.js";
export { Failure, Reply, type Artifact, type FailureOptions, type File, type ReplyParts } from "./worker/output.js";
export { NotAnswered, ToolContext, type AskOptions, type CalledElsewhere, type PartialOptions, type ProgressParts } from "./worker/context.js";
export { type ArgsOf, type Handler, type JsonSchema, type Schema, type ToolOptions, type ZodSchema } from "./worker/tool.js";
export { VERSION, Worker, type WorkerOptions } from "./worker/worker.js";
