/*
 * jvmti.c - a Java agent that writes a jitdump, in the shape of perf's libperf-jvmti.so (which
 * Debian does not ship): "LClass;method(args)result" names, source lines, the run time's own
 * stubs, and a page of the file mapped executable, by which the recording knows of it.
 *
 *	java -agentpath:/path/jvmti.so=FOLDER -XX:+PreserveFramePointer Class
 *
 * Build: cc -shared -fPIC -I$JDK/include -I$JDK/include/linux jvmti.c
 * Formats: tools/perf/Documentation/jitdump-specification.txt; JVM TI, CompiledMethodLoad.
 */
#include <jvmti.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { CODE_LOAD = 0, DEBUG_INFO = 2, EM_HERE = 62, LINES_MAX = 4096 };

struct line {
	uint64_t addr;
	uint32_t line, discriminator;
} __attribute__((packed));

static FILE *dump;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t codes;

static uint64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void put_u32(uint32_t v)
{
	fwrite(&v, sizeof(v), 1, dump);
}

static void put_u64(uint64_t v)
{
	fwrite(&v, sizeof(v), 1, dump);
}

static void put_head(uint32_t id, size_t size)
{
	put_u32(id);
	put_u32((uint32_t)size);
	put_u64(now());
}

static void put_lines(const void *code, const struct line *v, size_t n, const char *file)
{
	size_t name = strlen(file) + 1;
	put_head(DEBUG_INFO, 16 + 16 + n * (sizeof(*v) + name));
	put_u64((uintptr_t)code);
	put_u64(n);
	for (size_t i = 0; i < n; i++) {
		fwrite(&v[i], sizeof(*v), 1, dump);
		fwrite(file, 1, name, dump);
	}
}

static void put_code(const void *code, size_t size, const char *name)
{
	size_t n = strlen(name) + 1;
	put_head(CODE_LOAD, 16 + 40 + n + size);
	put_u32((uint32_t)getpid());
	put_u32((uint32_t)syscall(SYS_gettid));
	put_u64((uintptr_t)code);
	put_u64((uintptr_t)code);
	put_u64(size);
	put_u64(++codes);
	fwrite(name, 1, n, dump);
	fwrite(code, 1, size, dump);
	fflush(dump);
}

/* The line of a bytecode: the last entry that begins at or before it. */
static uint32_t line_at(const jvmtiLineNumberEntry *t, jint n, jlocation at)
{
	uint32_t line = 0;
	jlocation best = -1;
	for (jint i = 0; i < n; i++)
		if (t[i].start_location <= at && t[i].start_location > best) {
			best = t[i].start_location;
			line = (uint32_t)t[i].line_number;
		}
	return line;
}

static void JNICALL compiled(jvmtiEnv *vm, jmethodID m, jint size, const void *code, jint nmap,
			     const jvmtiAddrLocationMap *map, const void *info)
{
	static struct line lines[LINES_MAX];
	char *method = NULL, *args = NULL, *class_name = NULL, *file = NULL, name[2048];
	jvmtiLineNumberEntry *table = NULL;
	jint ntable = 0;
	jclass class;
	size_t n = 0;
	(void)info;
	if ((*vm)->GetMethodName(vm, m, &method, &args, NULL) ||
	    (*vm)->GetMethodDeclaringClass(vm, m, &class) ||
	    (*vm)->GetClassSignature(vm, class, &class_name, NULL))
		return;
	int has_lines = !(*vm)->GetLineNumberTable(vm, m, &ntable, &table) &&
			!(*vm)->GetSourceFileName(vm, class, &file);
	snprintf(name, sizeof(name), "%s%s%s", class_name, method, args);
	pthread_mutex_lock(&lock);
	for (jint i = 0; has_lines && i < nmap && n < LINES_MAX; i++)
		lines[n++] = (struct line){.addr = (uintptr_t)map[i].start_address,
					   .line = line_at(table, ntable, map[i].location)};
	if (n)
		put_lines(code, lines, n, file);
	put_code(code, (size_t)size, name);
	pthread_mutex_unlock(&lock);
	(*vm)->Deallocate(vm, (unsigned char *)method);
	(*vm)->Deallocate(vm, (unsigned char *)args);
	(*vm)->Deallocate(vm, (unsigned char *)class_name);
	(*vm)->Deallocate(vm, (unsigned char *)file);
	(*vm)->Deallocate(vm, (unsigned char *)table);
}

static void JNICALL generated(jvmtiEnv *vm, const char *name, const void *code, jint size)
{
	(void)vm;
	pthread_mutex_lock(&lock);
	put_code(code, (size_t)size, name);
	pthread_mutex_unlock(&lock);
}

static int open_dump(const char *folder)
{
	char path[4096];
	snprintf(path, sizeof(path), "%s/jit-%d.dump", folder && *folder ? folder : ".",
		 (int)getpid());
	dump = fopen(path, "w+");
	if (!dump || mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_EXEC,
			  MAP_PRIVATE, fileno(dump), 0) == MAP_FAILED)
		return -1;
	put_u32(0x4A695444);
	put_u32(1);
	put_u32(40);
	put_u32(EM_HERE);
	put_u32(0);
	put_u32((uint32_t)getpid());
	put_u64(now());
	put_u64(0);
	return fflush(dump);
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *jvm, char *options, void *reserved)
{
	static const jvmtiCapabilities wanted = {.can_generate_compiled_method_load_events = 1,
						 .can_get_source_file_name = 1,
						 .can_get_line_numbers = 1};
	static const jvmtiEventCallbacks calls = {.CompiledMethodLoad = compiled,
						  .DynamicCodeGenerated = generated};
	jvmtiEnv *vm;
	(void)reserved;
	if (open_dump(options) || (*jvm)->GetEnv(jvm, (void **)&vm, JVMTI_VERSION_1) ||
	    (*vm)->AddCapabilities(vm, &wanted) ||
	    (*vm)->SetEventCallbacks(vm, &calls, sizeof(calls)) ||
	    (*vm)->SetEventNotificationMode(vm, JVMTI_ENABLE, JVMTI_EVENT_COMPILED_METHOD_LOAD,
					    NULL) ||
	    (*vm)->SetEventNotificationMode(vm, JVMTI_ENABLE,
					    JVMTI_EVENT_DYNAMIC_CODE_GENERATED, NULL))
		return JNI_ERR;
	return JNI_OK;
}
