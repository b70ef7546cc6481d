// Written by tests/rest_types.py out of the OpenAPI document.

export interface DatasetBody {
  source: string;
  total_rows: number;
  available_splits: string[];
  selected_split: string;
  config: string;
  commit: string;
  columns: string[];
  notes: string[];
}

export interface Decision {
  decision: "reuse" | "run";
  step_id: number;
  attempt: number;
  generation: number;
  output: string | null;
  failures: number;
}

export interface Done {
  message: string;
}

export interface Empty {
}

export interface EventBody {
  id: number;
  step_id: number | null;
  type: string;
  message: string;
  data: any;
  created_at: string;
}

export interface EventPage {
  events: EventBody[];
  next: number | null;
}

export interface FoundSample {
  run_id: number;
  name: string;
  model: string;
  sample_id: number;
  repeat: number;
  field: string;
  before: string;
  match: string;
  after: string;
}

export interface Health {
  service: string;
  version: string;
  workspace_id: string;
  pid: number;
}

export interface History {
  name: string;
  metric: string | null;
  runs: HistoryRun[];
  breaks: number;
  next: number | null;
}

export interface HistoryPoint {
  run_id: number;
  value: number;
  joined: boolean;
}

export interface HistoryRun {
  run_id: number;
  kind: string;
  model: string;
  status: string;
  created_at: string;
  comparable: boolean | null;
  headline: Record<string, any> | null;
  before: number | null;
  breaks: string[];
  changes: (Record<string, any>)[];
  baselines: string[];
  gates: (Record<string, any>)[];
}

export interface LabelPage {
  labels: (Record<string, any>)[];
  next: number | null;
}

export interface LiveRuns {
  runs: RunBody[];
  removed: number[];
  last: number;
}

export interface MetricBody {
  id: number;
  metric_name: string;
  metric_value: number;
  unit: string | null;
  step_id: number | null;
  tags: Record<string, any> | null;
  created_at: string;
}

export interface MetricPage {
  metrics: MetricBody[];
  next: number | null;
}

export interface NamedRun {
  run_id: number;
  kind: string;
  name: string;
  model: string;
  status: string;
}

export interface NewCode {
  code: string;
  valid_s: number;
  read_only: boolean;
}

export interface PageToken {
  token: string;
  read_only: boolean;
}

export interface Rows {
  rows: (Record<string, any>)[];
  notes: string[];
}

export interface RunBody {
  id: number;
  kind: string;
  name: string;
  workflow_name: string;
  target: string;
  model: string | null;
  model_name: string | null;
  suite: string | null;
  dataset_name: string | null;
  rescored_from: number | null;
  demo: boolean;
  status: string;
  error: string | null;
  folder: string;
  created_at: string;
  started_at: string;
  finished_at: string | null;
  duration_s: number | null;
  evaluated: number | null;
  failed: number | null;
  outcomes: Record<string, number> | null;
  comparable: boolean | null;
  partial: boolean | null;
  metrics: Record<string, any> | null;
  headline: Record<string, any> | null;
  progress: Record<string, any> | null;
  cost: Record<string, any> | null;
  reused: Record<string, any> | null;
  input: string | null;
  output: string | null;
  tags: Record<string, any> | null;
  starts: number;
  data: Record<string, any> | null;
  summary: Record<string, any> | null;
}

export interface RunCreated {
  run_id: number;
}

export interface RunPage {
  runs: RunBody[];
  next: number | null;
  total: number;
  histories: Record<string, HistoryPoint[]>;
  choices: Record<string, string[]>;
}

export interface SamplePage {
  samples: (Record<string, any>)[];
  next: number | null;
  total: number | null;
  looked: number | null;
  indexed: number[] | null;
  note: string | null;
}

export interface SearchPage {
  q: string;
  runs: NamedRun[];
  samples: FoundSample[];
  looked: number;
  runs_looked: number;
  runs_there: number;
  next: string | null;
}

export interface Slice {
  value: string | null;
  rows: number;
  n: number;
  failed: number;
  mean: number | null;
  ci_low: number | null;
  ci_high: number | null;
  small: boolean;
  difference: number | null;
  p_value: number | null;
  p_adjusted: number | null;
  significant: boolean;
}

export interface Slices {
  run_id: number;
  column: string;
  metric: string;
  lower_is_better: boolean;
  binned: boolean;
  overlapping: boolean;
  test: string;
  tests: number;
  whole: Slice;
  slices: Slice[];
}

export interface StepBody {
  id: number;
  run_id: number;
  step_key: string;
  generation: number;
  attempt: number;
  input_hash: string;
  input: string | null;
  status: "completed" | "failed" | "interrupted" | "running";
  output: string | null;
  error: string | null;
  started_at: string;
  finished_at: string | null;
}

export interface StepPage {
  steps: StepBody[];
  next: number | null;
}
