{{- define "glasshouse.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "glasshouse.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" }}
{{- else }}
{{- $name := default .Chart.Name .Values.nameOverride }}
{{- if contains $name .Release.Name }}
{{- .Release.Name | trunc 50 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 50 | trimSuffix "-" }}
{{- end }}
{{- end }}
{{- end }}

{{- define "glasshouse.selector" -}}
app.kubernetes.io/name: {{ include "glasshouse.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "glasshouse.labels" -}}
{{ include "glasshouse.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "glasshouse.serviceAccount" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "glasshouse.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- define "glasshouse.image" -}}
{{- printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) | quote }}
{{- end }}

{{/* Combinations that would lose data or not work. */}}
{{- define "glasshouse.check" -}}
{{- if not .Values.database.existingSecret }}
{{- if gt (int .Values.replicas) 1 }}
{{- fail "replicas is more than 1, which needs PostgreSQL: set database.existingSecret" }}
{{- end }}
{{- if .Values.autoscaling.enabled }}
{{- fail "autoscaling.enabled needs PostgreSQL: set database.existingSecret" }}
{{- end }}
{{- else if not .Values.secretKey.existingSecret }}
{{- fail "with PostgreSQL, all servers need the same secret key: set secretKey.existingSecret" }}
{{- end }}
{{- if and .Values.autoscaling.enabled (lt (int .Values.autoscaling.maxReplicas) (int .Values.autoscaling.minReplicas)) }}
{{- fail "autoscaling.maxReplicas is less than autoscaling.minReplicas" }}
{{- end }}
{{- if and .Values.autoscaling.enabled (not (or .Values.autoscaling.activeRuns.enabled .Values.autoscaling.cpu.enabled)) }}
{{- fail "autoscaling.enabled needs autoscaling.activeRuns.enabled or autoscaling.cpu.enabled" }}
{{- end }}
{{- if and .Values.objectStorage.existingSecret (not .Values.objectStorage.url) }}
{{- fail "objectStorage.existingSecret is set without objectStorage.url" }}
{{- end }}
{{- if and .Values.ingress.enabled (not .Values.ingress.hosts) }}
{{- fail "ingress.enabled needs ingress.hosts" }}
{{- end }}
{{- if and .Values.httpRoute.enabled (not .Values.httpRoute.parentRefs) }}
{{- fail "httpRoute.enabled needs httpRoute.parentRefs" }}
{{- end }}
{{- if and .Values.metrics.serviceMonitor.enabled (not .Values.metrics.serviceMonitor.existingSecret) }}
{{- fail "/metrics needs an administrator's API key: set metrics.serviceMonitor.existingSecret" }}
{{- end }}
{{- end }}

{{- define "glasshouse.checkRunner" -}}
{{- if not .Values.runner.existingSecret }}
{{- fail "runners need a token: set runner.existingSecret" }}
{{- end }}
{{- if and .Values.runner.only (not .Values.runner.server) }}
{{- fail "runner.only needs the address of the servers: set runner.server" }}
{{- end }}
{{- if and .Values.runner.server .Values.runner.networkPolicy.enabled (not .Values.runner.networkPolicy.egress) }}
{{- fail "with runner.server, allow the way there: set runner.networkPolicy.egress" }}
{{- end }}
{{- end }}

{{- define "glasshouse.runnerServer" -}}
{{- default (printf "http://%s:%v" (include "glasshouse.fullname" .) .Values.service.port) .Values.runner.server }}
{{- end }}

{{- define "glasshouse.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- define "glasshouse.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
runAsNonRoot: true
capabilities:
  drop: [ALL]
{{- end }}

{{- define "glasshouse.fromSecret" -}}
- name: {{ .name }}
  valueFrom:
    secretKeyRef:
      name: {{ .from.existingSecret }}
      key: {{ .from.key }}
{{- end }}

{{/* What opens the object storage. */}}
{{- define "glasshouse.objectStorageEnv" -}}
- name: GLASSHOUSE_OBJECT_STORAGE_URL
  value: {{ .url | quote }}
{{- if .endpoint }}
- name: GLASSHOUSE_OBJECT_STORAGE_ENDPOINT
  value: {{ .endpoint | quote }}
{{- end }}
{{- if .region }}
- name: GLASSHOUSE_OBJECT_STORAGE_REGION
  value: {{ .region | quote }}
{{- end }}
- name: GLASSHOUSE_OBJECT_STORAGE_PATH_STYLE
  value: {{ .pathStyle | quote }}
{{- if .existingSecret }}
{{- if .accessKeyKey }}
{{ include "glasshouse.fromSecret" (dict "name" "GLASSHOUSE_OBJECT_STORAGE_ACCESS_KEY" "from" (dict "existingSecret" .existingSecret "key" .accessKeyKey)) }}
{{- end }}
{{ include "glasshouse.fromSecret" (dict "name" "GLASSHOUSE_OBJECT_STORAGE_SECRET_KEY" "from" (dict "existingSecret" .existingSecret "key" .secretKeyKey)) }}
{{- end }}
{{- end }}

{{/* What opens the database. */}}
{{- define "glasshouse.databaseEnv" -}}
{{- if .Values.database.existingSecret }}
{{ include "glasshouse.fromSecret" (dict "name" "GLASSHOUSE_DATABASE_URL" "from" .Values.database) }}
{{- end }}
{{- if .Values.secretKey.existingSecret }}
{{ include "glasshouse.fromSecret" (dict "name" "GLASSHOUSE_SECRET_KEY" "from" .Values.secretKey) }}
{{- end }}
- name: GLASSHOUSE_DATA_DIR
  value: /data
- name: GLASSHOUSE_LOG_FORMAT
  value: {{ .Values.log.format | quote }}
- name: GLASSHOUSE_LOG_LEVEL
  value: {{ .Values.log.level | quote }}
{{- end }}

{{/* The path of publicUrl, such as /ai; / if it has none. */}}
{{- define "glasshouse.publicPath" -}}
{{- with .Values.publicUrl }}{{ (urlParse .).path | trimSuffix "/" | default "/" }}{{ else }}/{{ end }}
{{- end }}

{{- define "glasshouse.serverEnv" -}}
- name: GLASSHOUSE_LISTEN
  value: "0.0.0.0:8000"
{{- if .Values.publicUrl }}
- name: GLASSHOUSE_PUBLIC_URL
  value: {{ .Values.publicUrl | quote }}
{{- end }}
{{- if .Values.trustedProxies }}
- name: GLASSHOUSE_TRUSTED_PROXIES
  value: {{ join "," .Values.trustedProxies | quote }}
{{- end }}
{{- if .Values.bus.existingSecret }}
{{ include "glasshouse.fromSecret" (dict "name" "GLASSHOUSE_BUS_URL" "from" .Values.bus) }}
{{- end }}
{{- if .Values.objectStorage.url }}
{{ include "glasshouse.objectStorageEnv" .Values.objectStorage }}
{{- end }}
{{- if .Values.runner.enabled }}
{{ include "glasshouse.fromSecret" (dict "name" "GLASSHOUSE_PROGRAMS_RUNNER_TOKEN" "from" .Values.runner) }}
{{- end }}
- name: GLASSHOUSE_SHUTDOWN_DELAY_SECONDS
  value: {{ .Values.shutdown.delaySeconds | quote }}
- name: GLASSHOUSE_DRAIN_SECONDS
  value: {{ .Values.shutdown.drainSeconds | quote }}
{{- range $name, $value := .Values.env }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "glasshouse.envFrom" -}}
{{- if .Values.modelKeys.existingSecret }}
- secretRef:
    name: {{ .Values.modelKeys.existingSecret }}
{{- end }}
{{- with .Values.extraEnvFrom }}
{{ toYaml . }}
{{- end }}
{{- end }}
