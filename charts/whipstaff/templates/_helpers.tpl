{{/*
Every template of this chart is one document that ends in a dash, without a line break: some
versions of Helm keep a blank line after a document and others do not, and so all print the same.
*/}}

{{- define "whipstaff.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "whipstaff.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" -}}
{{- else if contains (include "whipstaff.name" .) .Release.Name -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "whipstaff.name" .) | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "whipstaff.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "whipstaff.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{/* The labels that select the operator's pods, which never change. */}}
{{- define "whipstaff.selectorLabels" -}}
app.kubernetes.io/name: {{ include "whipstaff.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "whipstaff.labels" -}}
{{ include "whipstaff.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "whipstaff.image" -}}
{{- $reference := printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) -}}
{{- if .Values.image.digest -}}
{{- $reference = printf "%s@%s" .Values.image.repository .Values.image.digest -}}
{{- end -}}
{{- $reference -}}
{{- end -}}
