/* ask_port LOG PORT - `front` asks a server on this host for 1.5 s; see blocked.js. */
#include "../truth.h"

#include <arpa/inet.h>
#include <sys/socket.h>

NOINLINE static void ask_server(int fd)
{
	char c;
	if (write(fd, "a", 1) != 1 || read(fd, &c, 1) != 1)
		exit(1);
	STAY();
}

int main(int argc, char **argv)
{
	struct sockaddr_in a = {.sin_family = AF_INET};
	truth_begin(argc, argv, "front");
	a.sin_port = htons((uint16_t)(argc > 2 ? atoi(argv[2]) : 0));
	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof(a)))
		return 1;
	uint64_t until = now_ns() + 1500 * (uint64_t)MS;
	while (now_ns() < until) {
		uint64_t from = now_ns();
		ask_server(fd);
		if (now_ns() - from > 8 * MS)
			truth("slow", from, now_ns());
		sleep_ns(3 * MS);
	}
	truth_write();
	_exit(0);
}
