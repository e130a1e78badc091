# SPDX-License-Identifier: Apache-2.0
find_package(OpenMP REQUIRED COMPONENTS C)
find_package(Threads REQUIRED)
